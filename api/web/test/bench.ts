// npm run bench: what an allocation of many events costs a browser. The last column is what the page promises.
import { browser } from './browser/chromium.ts';
import { large } from './fake/large.ts';
import { fake } from './fake/server.ts';
import { measure } from './measure.ts';

const b = await browser();
console.log('events   first lanes   DOM nodes   zoom        pan');
for (const events of [1000, 10_000, 50_000]) {
  const f = await fake([large(events)]);
  const m = await measure(b, f.url);
  const cells = [
    `${m.first.toFixed(0)} ms`.padEnd(13),
    String(m.nodes).padEnd(11),
    `${m.zoom.toFixed(0)} fps`.padEnd(11),
    `${m.pan.toFixed(0)} fps`,
  ];
  console.log(`${String(events).padEnd(8)} ${cells.join(' ')}`);
  await f.close();
}
console.log('promised of 10,000: ≤ 500 ms, ≤ 400 nodes, ≥ 50 fps');
await b.close();
