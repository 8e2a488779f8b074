// Pictures of every view, from fixtures: npm run screenshots. They are looked at by people and shown in docs/page.md.
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { browser, drawn, look, type Looking } from './browser/chromium.ts';
import { large } from './fake/large.ts';
import { fake } from './fake/server.ts';
import { smaller } from './png.ts';

const docs = process.env['DOCS'] ?? join(import.meta.dirname, '..', '..', '..', 'docs');
const most = 200_000;

const views: { name: string; path: string; o?: Looking; lanes?: boolean; full?: boolean }[] = [
  { name: 'allocation-light', path: '/ui/allocations/a43', lanes: true, o: { height: 1060 } },
  { name: 'allocation-dark', path: '/ui/allocations/a43', lanes: true, o: { theme: 'dark', height: 1060 } },
  { name: 'home', path: '/ui/' },
  { name: 'node', path: '/ui/nodes/gpu-17' },
  { name: 'incident', path: '/ui/incidents/*' },
  { name: 'sources', path: '/ui/sources', o: { height: 620 } },
  { name: 'trace', path: '/ui/traces/*', o: { height: 620 } },
];
const more: typeof views = [
  { name: 'x-cert', path: '/ui/allocations/a-a843014769176f6b', lanes: true, o: { height: 1100 } },
  { name: 'x-record', path: '/ui/allocations/a43?ref=*', lanes: true },
  { name: 'x-undetermined', path: '/ui/allocations/b-9', lanes: true },
  { name: 'x-healthy', path: '/ui/allocations/a-85864713a7f1caa9', lanes: true },
  { name: 'x-large', path: '/ui/allocations/a-large', lanes: true },
  { name: 'x-hostile', path: '/ui/allocations/a-hostile', lanes: true },
  { name: 'x-phone', path: '/ui/allocations/a43', lanes: true, o: { width: 360, height: 780 }, full: true },
  { name: 'x-phone-home', path: '/ui/', o: { width: 360, height: 780 }, full: true },
  { name: 'x-4k', path: '/ui/allocations/a43', lanes: true, o: { width: 3840, height: 2160 } },
  { name: 'x-rules', path: '/ui/rules' },
  { name: 'x-search', path: '/ui/search?q=certificate' },
];

const f = await fake([large()]);
const b = await browser();
for (const v of process.env['MORE'] ? [...views, ...more] : views) {
  const { context, page, complaints } = await look(b, v.o);
  const trace = f.world.events.find((e) => e.name === 'create allocation')?.ids['trace_id'] ?? '';
  const evidence = f.world.allocations.get('a43')!.verdict.faults.at(-1)!.evidence[0]!;
  const star = v.path.includes('incidents')
    ? f.world.incidents[0]!.incident_id
    : v.path.includes('traces')
      ? trace
      : evidence;
  await page.goto(f.url + v.path.replace('*', star));
  if (v.lanes) await drawn(page);
  await page.waitForTimeout(700);
  const file = join(docs, `${v.name}.png`);
  writeFileSync(file, smaller(await page.screenshot({ fullPage: v.full ?? false })));
  const size = statSync(file).size;
  console.log(`${v.name.padEnd(18)} ${String(Math.round(size / 1000)).padStart(4)} kB ${complaints.join(' | ')}`);
  if (size > most) process.exitCode = 1;
  await context.close();
}
await b.close();
await f.close();
