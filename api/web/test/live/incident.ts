// An incident as two pages see it that nobody reloads, at a correlator that runs: api/live_test.go starts it and this, and writes
// what happens when it is asked to.
import assert from 'node:assert/strict';
import { browser, look } from '../browser/chromium.ts';

const [server, stage, token] = process.argv.slice(2) as [string, string, string];
const within = 5000;

const b = await browser();
const { context, page: allocation, complaints } = await look(b, { ownClock: true });
await allocation.goto(`${server}/ui/allocations/a-live`);
await allocation.getByLabel('Token').fill(token);
await allocation.getByRole('button', { name: 'Sign in' }).click();
await allocation.getByText('No fault.').waitFor();
const home = await context.newPage();
home.setDefaultTimeout(8000);
await home.goto(`${server}/ui/`);
const incidents = home.locator('section[aria-labelledby=incidents]');
await incidents.getByText('None.').waitFor();

let loads = 0;
for (const page of [allocation, home]) page.on('load', () => loads++);

// happens has the server write what happens next, and gives how long it took until both pages show it.
async function happens(what: string, ...shown: (() => Promise<void>)[]): Promise<void> {
  const written = await fetch(`${stage}/${what}`, { method: 'POST' });
  assert.equal(written.status, 200);
  const begun = Date.now();
  const took = await Promise.all(shown.map(async (s) => (await s(), Date.now() - begun)));
  console.log(`${what}: allocation ${took[0]} ms, home ${took[1]} ms`);
  assert.ok(Math.max(...took) <= within, `${what}: ${took.join(', ')} ms`);
}

await happens(
  'trouble',
  () => allocation.getByText('a certificate has expired').first().waitFor(),
  () => incidents.locator('> article', { hasText: 'a certificate has expired' }).waitFor(),
);
await happens(
  'healing',
  () => allocation.locator('.fault.over').waitFor(),
  () => incidents.getByText('1 incident over').waitFor(),
);
await incidents.getByText('None.').waitFor();
assert.equal(loads, 0);
assert.deepEqual(complaints, []);
await b.close();
