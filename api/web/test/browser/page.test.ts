import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { Browser } from 'playwright-core';
import { large } from '../fake/large.ts';
import { fake, type Fake } from '../fake/server.ts';
import { browser, drawn, look, until } from './chromium.ts';

const dist = join(import.meta.dirname, '..', '..', 'dist');
let b: Browser;
let f: Fake;

before(async () => {
  b = await browser();
  f = await fake([large()]);
});
after(async () => {
  await b.close();
  await f.close();
});

const views = (): [string, string][] => [
  ['/ui/', 'stuck, failed or in trouble'],
  ['/ui/incidents', 'stuck, failed or in trouble'],
  ['/ui/allocations/a43', 'owns it'],
  ['/ui/allocations/a-a843014769176f6b', 'a certificate has expired'],
  ['/ui/allocations/a-85864713a7f1caa9', 'No fault.'],
  ['/ui/allocations/b-9', 'Undetermined.'],
  ['/ui/allocations/a-contested', 'may own it'],
  ['/ui/nodes/gpu-17', 'gpu-17-i2'],
  [`/ui/incidents/${f.world.incidents[0]!.incident_id}`, 'Victims'],
  ['/ui/rules', 'cert.expired'],
  ['/ui/sources', 'ingress-proxy'],
  [`/ui/traces/${traced()}`, 'create allocation'],
  ['/ui/search?q=certificate', 'the newest first'],
  ['/ui/nowhere', 'There is no such page'],
];

const traced = () => f.world.events.find((e) => e.name === 'create allocation')!.ids['trace_id']!;

test('every view shows what it is for, in both themes, and nothing breaks the policy', async () => {
  for (const theme of ['light', 'dark'] as const) {
    const { context, page, complaints } = await look(b, { theme });
    for (const [path, words] of views()) {
      await page.goto(f.url + path);
      await page.getByText(words).first().waitFor();
      assert.equal(await page.evaluate(() => document.documentElement.dataset['theme']), theme);
      assert.equal(await page.locator('h1').count(), 1, path);
    }
    assert.deepEqual(complaints, []);
    await context.close();
  }
});

test('no view scrolls sideways at 360 px, nor at 3840', async () => {
  for (const width of [360, 768, 3840]) {
    const { context, page } = await look(b, { width, height: 800 });
    for (const [path, words] of views()) {
      await page.goto(f.url + path);
      await page.getByText(words).first().waitFor();
      await page.waitForTimeout(100);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= width, `${path} is ${wide} px wide at ${width}`);
    }
    await context.close();
  }
});

test('the theme and the form of times can be chosen and are kept', async () => {
  const { context, page } = await look(b);
  await page.goto(`${f.url}/ui/allocations/a43`);
  await page.getByRole('button', { name: 'Dark theme' }).click();
  await page.getByRole('button', { name: 'UTC' }).click();
  await page.getByText('32 m 10 s ago').first().waitFor();
  await page.reload();
  await page.getByText('32 m 10 s ago').first().waitFor();
  assert.equal(await page.evaluate(() => document.documentElement.dataset['theme']), 'dark');
  await context.close();
});

test('hostile text stays text', async () => {
  const { context, page, complaints } = await look(b);
  for (const path of [
    '/ui/allocations/a-hostile',
    '/ui/',
    '/ui/nodes/n-hostile',
    '/ui/search?q=onerror',
    '/ui/search?q=<img%20src=x%20onerror=alert(1)>',
  ]) {
    await page.goto(f.url + path);
    await page.waitForTimeout(300);
    assert.equal(await page.locator('img, main script, b[onmouseover]').count(), 0, path);
    assert.equal(await page.evaluate(() => (window as unknown as { hostile?: number }).hostile), undefined);
  }
  await page.goto(`${f.url}/ui/allocations/a-hostile`);
  await drawn(page);
  await until(async () => (await page.locator('.records').innerText()).includes('<img src=x onerror='));
  const table = await page.locator('.records').innerText();
  assert.ok(table.includes('⟨U+202E⟩') && !table.includes('\u202e'));
  assert.ok(!table.includes('\u001b'));
  assert.deepEqual(complaints, []);
  await context.close();
});

test('signing in: a token opens a session, a wrong one is refused with the reason', async () => {
  const closed = await fake();
  closed.token = 'right';
  const { context, page } = await look(b);
  await page.goto(`${closed.url}/ui/allocations/a43`);
  await page.getByLabel('Token').fill('wrong');
  assert.deepEqual(closed.asked, ['GET /api/v1/session']); // who asks is settled before anything else is asked
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('The token is not accepted').waitFor();
  await page.getByLabel('Token').fill('right');
  await page.keyboard.press('Enter');
  await drawn(page);
  await page.getByRole('button', { name: 'Keys and help' }).click();
  await page.getByText('Signed in as').waitFor();
  await page.keyboard.press('Escape');
  await page.getByText('Signed in as').waitFor({ state: 'hidden' });
  assert.equal(await page.evaluate(() => document.cookie), ''); // no script can read it
  assert.equal(await page.evaluate(() => JSON.stringify(localStorage).includes('right')), false);
  await page.getByRole('button', { name: 'Keys and help' }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.keyboard.press('Escape');
  await page.getByLabel('Token').waitFor();
  await context.close();
  await closed.close();
});

test('a problem document is shown as it is', async () => {
  const { context, page } = await look(b);
  await page.goto(`${f.url}/ui/allocations/nobody`);
  await page.getByText('Unknown identifier').waitFor();
  await page.getByText('no record leads to nobody').waitFor();
  await context.close();
});

test('records beyond the first page are asked for', async () => {
  const many = await fake();
  const one = many.world.events[0]!;
  many.world.events.push(...Array.from({ length: 300 }, (_, i) => ({ ...one, ref: `more-${i}` })));
  const all = many.world.events.length;
  const { context, page } = await look(b);
  await page.goto(`${many.url}/ui/search`);
  await page.getByText('200 and more records').waitFor();
  await page.getByRole('button', { name: 'More records' }).click();
  await page.getByText(`${Math.min(all, 400)} ${all > 400 ? 'and more records' : 'records'}`).waitFor();
  await context.close();
  await many.close();
});

test('the raw lines around a record are read when they are asked for', async () => {
  const { context, page } = await look(b);
  const open = async () => {
    await page.goto(`${f.url}/ui/allocations/a43`);
    await drawn(page);
    await page.keyboard.press('ArrowRight');
    await page.getByRole('button', { name: 'Raw lines around it' }).click();
  };
  await open();
  await page.getByText('<b>after</b> it').waitFor();
  f.lines = false;
  await open();
  await page.getByText('no Loki is configured here').waitFor();
  f.lines = true;
  await context.close();
});

test('search leads to an allocation, a node, or what is like it', async () => {
  const { context, page } = await look(b);
  await page.goto(`${f.url}/ui/`);
  const search = async (text: string, url: RegExp) => {
    await page.locator('#find').fill(text);
    await page.keyboard.press('Enter');
    await page.waitForURL(url);
  };
  await search('wipe5', /allocations\/a43$/);
  await search('gpu-17', /nodes\/gpu-17$/);
  await search('a-a8430147', /search\?q=a-a8430147/);
  await page.getByRole('link', { name: 'a-a843014769176f6b' }).first().waitFor();
  await search('critical medium error', /search\?q=critical/);
  await page.getByText('critical medium error').first().waitFor();
  await context.close();
});

test('the bundle is at most 150 kB, gzipped', () => {
  const files = readdirSync(join(dist, 'assets')).filter((n) => /\.(js|css|svg)$/.test(n));
  const size = files.reduce((sum, n) => sum + gzipSync(readFileSync(join(dist, 'assets', n))).length, 0);
  assert.ok(size > 10_000 && size <= 150_000, `${size} bytes`);
});

test('nothing is asked of another host, and what is left is given up', async () => {
  const { context, page } = await look(b);
  const hosts = new Set<string>();
  page.on('request', (q) => hosts.add(new URL(q.url()).origin));
  for (const [path] of views()) await page.goto(f.url + path);
  await page.waitForTimeout(300);
  assert.deepEqual([...hosts], [f.url]);
  await context.close();
});

test('a server that knows less than the page takes away what it does not know, and nothing else', async () => {
  const { context, page, complaints } = await look(b);
  const lacks = /\/api\/v1\/(layers|sources|lookup|session|nodes)|\/(states|raw|recovery|history|reasoning)/;
  await page.route(lacks, (r) =>
    r.fulfill({ status: 404, contentType: 'application/problem+json', body: '{"title":"Not Found","status":404}' }),
  );
  await page.goto(`${f.url}/ui/allocations/a43`);
  await drawn(page);
  await page.getByText('a disk of the node reports errors').waitFor();
  await until(async () => (await page.locator('.names li').count()) === 9);
  await page.keyboard.press('ArrowRight');
  await page.locator('.drawer').getByText('Not Found').waitFor();
  await page.goto(`${f.url}/ui/`);
  await page.getByText('Platform PKI').first().waitFor();
  assert.deepEqual(complaints, []);
  await context.close();
});
