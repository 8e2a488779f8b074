// What stands on each view, element by element: each of these tests fails when one of them is gone.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { fake, type Fake } from '../fake/server.ts';
import { browser, drawn, look, until } from './chromium.ts';

let b: Browser;
let f: Fake;

before(async () => {
  b = await browser();
  f = await fake();
});
after(async () => {
  await b.close();
  await f.close();
});

async function open(path: string): Promise<{ page: Page; close(): Promise<void> }> {
  const { context, page } = await look(b);
  await page.goto(f.url + path);
  return { page, close: () => context.close() };
}

const query = (page: Page) => new URL(page.url()).searchParams;

test('home: what is wrong by owner, incidents with victims, who went silent, what drifts', async () => {
  const { page, close } = await open('/ui/');
  const pki = page.locator('section[aria-label="platform PKI"]');
  await pki.getByRole('link', { name: 'a-a843014769176f6b' }).waitFor();
  const hardware = page.locator('section[aria-label="hardware"]');
  await hardware.getByRole('link', { name: 'a43', exact: true }).waitFor();
  await hardware.getByText('release failed').waitFor();
  await hardware.getByText(/stuck \d+ m/).waitFor();
  assert.equal(await pki.getByRole('link', { name: 'a43', exact: true }).count(), 0);
  await page.getByRole('heading', { name: /by \d+ owners/ }).waitFor();
  const incidents = page.locator('section[aria-labelledby=incidents]');
  await incidents
    .getByText(/\d+ victims?/)
    .first()
    .waitFor();
  const silent = page.locator('section[aria-labelledby=silent] li');
  assert.ok((await silent.count()) > 0);
  assert.match(await silent.first().innerText(), / for \d+ (m|h|d)/);
  await page.locator('section[aria-labelledby=drift]').getByText('the truth is release failed').waitFor();
  await close();
});

test('home: who may see some tenants alone is told so, and not that nobody sends anything', async () => {
  const { context, page } = await look(b);
  await page.route('**/api/v1/sources', (r) =>
    r.fulfill({
      status: 403,
      contentType: 'application/problem+json',
      body: '{"title":"the caller may not do this","status":403,"detail":"what each source sends is about all tenants"}',
    }),
  );
  await page.goto(`${f.url}/ui/`);
  const silent = page.locator('section[aria-labelledby=silent]');
  await silent
    .getByText('What each source sends is about all tenants', { exact: false })
    .or(silent.getByText('is about all tenants'))
    .first()
    .waitFor();
  assert.equal(await page.getByText('Nobody has sent anything yet').count(), 0);
  await context.close();
});

test('allocation: states with since and budget, owner, confidence, the four states', async () => {
  const { page, close } = await open('/ui/allocations/a43');
  await drawn(page);
  const states = page.getByRole('list', { name: 'States that it came through' }).locator('li');
  const titles = await states.evaluateAll((all) => all.map((x) => x.getAttribute('title') ?? ''));
  assert.match(titles.at(-1)!, /^release failed since .*10:51:41.*, for \d+ m/);
  assert.match(titles[0]!, /, took /);
  await states.last().getByText('over its budget').waitFor();
  const verdict = page.locator('section[aria-labelledby=verdict]');
  await verdict.getByText('high confidence').waitFor();
  await verdict.getByText('medium confidence').waitFor();
  await verdict.locator('.chip.team').filter({ hasText: 'hardware' }).waitFor();
  await verdict.getByRole('link', { name: 'node.disk' }).waitFor();
  const four = page.locator('section[aria-labelledby=four]');
  for (const name of [
    'desired',
    'execution · workflow',
    'execution · task',
    'observed · allocation',
    'shown · ui state',
  ])
    await four.getByText(name, { exact: true }).waitFor();
  await four.locator('dd', { hasText: 'released' }).first().waitFor();
  await four.locator('b.drift', { hasText: 'active ▲' }).waitFor();
  await four.getByRole('button', { name: /active ▲/ }).click(); // leads to the record that says so
  await page.locator('.drawer').waitFor();
  await close();
});

test('lanes: points, bars, silence, handoffs, the frontier, ties and folds are drawn, each told by its shape', async () => {
  const { page, close } = await open('/ui/allocations/a43');
  await drawn(page);
  await until(async () => (await page.locator('svg.overlay .frontier circle').count()) === 1);
  for (const part of ['.silence rect', '.fold rect', '.fault rect'])
    assert.ok((await page.locator(`svg.overlay ${part}`).count()) > 0, part);
  await page.locator('svg.overlay .frontier text', { hasText: 'proven up to here' }).waitFor({ state: 'attached' });
  for (const path of ['.ties', '.handoffs'])
    assert.ok(((await page.locator(`svg.overlay path${path}`).getAttribute('d')) ?? '').length > 10, path);
  // how much of the canvas has the colour of a mark
  const painted = (name: string) =>
    page.locator('canvas').evaluate((node, name) => {
      const c = node as HTMLCanvasElement;
      const one = new OffscreenCanvas(1, 1).getContext('2d')!;
      for (const colour of ['lane', name]) {
        one.fillStyle = getComputedStyle(c).getPropertyValue(`--${colour}`).trim(); // bars let the lane through
        one.fillRect(0, 0, 1, 1);
      }
      const want = one.getImageData(0, 0, 1, 1).data;
      const have = c.getContext('2d')!.getImageData(0, 0, c.width, c.height).data;
      let n = 0;
      for (let i = 0; i < have.length; i += 4)
        if (have[i] === want[0] && have[i + 1] === want[1] && have[i + 2] === want[2] && have[i + 3] === 255) n++;
      return n;
    }, name);
  for (const mark of ['cause', 'symptom', 'event']) assert.ok((await painted(mark)) > 20, mark);
  await page.keyboard.press('s');
  await until(async () => (await painted('symptom')) < 20);
  assert.ok((await painted('cause')) > 20);
  await page.keyboard.press('e');
  await until(async () => (await painted('event')) < 20);
  const legend = await page.locator('.legend .mark').allInnerTexts();
  assert.equal(new Set(legend).size, 6); // no two marks differ by colour alone
  await page.goto(`${f.url}/ui/allocations/a-85864713a7f1caa9`); // where nothing is wrong, bars are plain
  await drawn(page);
  assert.ok((await painted('bar')) > 20, 'no bar');
  await close();
});

test('lanes stand in causal order, with names', async () => {
  const { page, close } = await open('/ui/allocations/a43');
  await drawn(page);
  const usual = ['client', 'cert', 'ingress', 'api', 'workflow', 'node agent', 'node', 'projection'];
  const names = await page.locator('.names li').allInnerTexts();
  const places = names.map((n) => usual.indexOf(n.split('\n')[0]!.trim())).filter((n) => n >= 0);
  assert.ok(places.length >= 6, names.join());
  assert.deepEqual(
    places,
    [...places].sort((x, y) => x - y),
    names.join(),
  );
  await close();
});

test("a record's drawer has it as it was sent, its identifiers lead on, and a clock that is ahead is said", async () => {
  const skewed = await fake();
  const a = skewed.world.allocations.get('a43')!;
  const e = a.timeline.find((x) => x.ref !== '' && x.kind === 'log')!;
  e.observed_time = new Date(Date.parse(e.time) - 2000).toISOString();
  a.verdict.findings.push({ kind: 'clock_skew', summary: 'the clock of nginx is 2 s ahead', refs: [e.ref] });
  const { context, page } = await look(b);
  await page.goto(`${skewed.url}/ui/allocations/a43?ref=${e.ref}`);
  const drawer = page.locator('.drawer');
  await drawer.getByText('its clock is ahead').waitFor();
  await page.locator('section[aria-labelledby=four]').getByText('the clock of nginx is 2 s ahead').waitFor();
  await drawer.getByText('The record as it was sent').click();
  await drawer.locator('pre', { hasText: '"observed_time"' }).waitFor();
  await drawer.getByText('resolved', { exact: true }).waitFor();
  assert.ok((await drawer.locator('dd a').count()) > 0);
  await context.close();
  await skewed.close();
});

test('node: installations over reimages, who held it when, and what outlived them', async () => {
  const { page, close } = await open('/ui/nodes/gpu-17');
  const bars = (title: string) => page.locator('.life h2', { hasText: title }).locator('+ ol li');
  await bars('Installations').first().waitFor();
  assert.ok((await bars('Installations').count()) >= 2);
  await bars('Installations')
    .filter({ hasText: 'gpu-17-i2' })
    .getByText(/gone; \d+ records? outlived it/)
    .waitFor();
  await bars('Held by').filter({ hasText: 'a31' }).waitFor();
  await bars('Held by').getByRole('link', { name: 'a43', exact: true }).waitFor();
  await page.getByText('The inventory view shows it as free; it has been').waitFor();
  await page.getByRole('grid', { name: 'Records of node gpu-17' }).waitFor();
  await close();
});

test('incident: its cause, its owner, and each victim with its evidence', async () => {
  const i = f.world.incidents[0]!;
  const { page, close } = await open(`/ui/incidents/${i.incident_id}`);
  await page.getByText('owns it').first().waitFor();
  await page.locator('.chip.team').filter({ hasText: i.owner.team! }).waitFor();
  await page.getByText('Next check').waitFor();
  const victims = page.getByRole('region', { name: 'Table of victims' }).locator('tbody tr');
  assert.equal(await victims.count(), i.victims.length);
  const proof = victims.first().getByRole('link', { name: /records?$/ });
  assert.match(
    (await proof.getAttribute('href'))!,
    new RegExp(`/ui/allocations/${i.victims[0]!.allocation_id}\\?ref=`),
  );
  await close();
});

test('rules are found by their words, and the address keeps them', async () => {
  const { page, close } = await open('/ui/rules');
  const rules = page.locator('.rules > li');
  await rules.first().waitFor();
  const all = await rules.count();
  await page.getByLabel(/Words of a rule/).fill('certificate expired');
  await until(async () => (await rules.count()) < all);
  await rules.first().getByText('Safe action').waitFor();
  assert.equal(query(page).get('q'), 'certificate expired');
  await page.reload();
  await rules.first().waitFor();
  assert.ok((await rules.count()) < all);
  await close();
});

test('sources: who is silent first, how late, whose clock is ahead, how much carries each identifier', async () => {
  const { context, page } = await look(b);
  await page.route('**/api/v1/sources', async (r) => {
    const answer = await r.fetch();
    const list = (await answer.json()) as { sources: { ahead_seconds: number; source: string }[] };
    list.sources.find((s) => s.source === 'kernel')!.ahead_seconds = 4;
    await r.fulfill({ response: answer, json: list });
  });
  await page.goto(`${f.url}/ui/sources`);
  const rows = page.getByRole('region', { name: 'Sources' }).locator('tbody tr');
  await rows
    .first()
    .getByText(/○ silent/)
    .waitFor();
  await rows.getByText('● alive').first().waitFor();
  await rows.filter({ hasText: 'kernel' }).getByText('▲ 4 s ahead').waitFor();
  const heads = await page.getByRole('columnheader').allInnerTexts();
  for (const name of ['Late by', 'allocation', 'workflow', 'correlation', 'node', 'node instance'])
    assert.ok(
      heads.some((h) => h.toLowerCase() === name.toLowerCase()),
      `${name} of ${heads.join()}`,
    );
  assert.match(await rows.first().locator('td').last().innerText(), /^\d+ %$/);
  await context.close();
});

test('trace: a waterfall that leads to the record, kept in the address', async () => {
  const trace = f.world.events.find((e) => e.name === 'create allocation')!.ids['trace_id']!;
  const { page, close } = await open(`/ui/traces/${trace}`);
  const steps = page.locator('.waterfall > li');
  await steps.first().waitFor();
  const indents = await steps
    .locator('.name')
    .evaluateAll((all) => all.map((x) => (x as HTMLElement).style.paddingInlineStart));
  assert.ok(new Set(indents).size > 1, 'nothing stands under what caused it');
  await steps.nth(1).getByRole('button').click();
  await page.locator('.drawer').waitFor();
  assert.ok(query(page).get('ref'));
  await page.reload();
  await page.locator('.drawer').waitFor();
  await close();
});

test('search: narrowed by severity, layer and source, and live', async () => {
  const { page, close } = await open('/ui/search?q=certificate');
  await page.getByText('the newest first').waitFor();
  await page.getByLabel('At least').selectOption('error');
  await until(() => query(page).get('severity') === 'error');
  await page.getByLabel('Layer').selectOption('ingress');
  await page.getByLabel('Source').fill('nginx');
  await page.keyboard.press('Enter');
  const asked = () => f.asked.filter((a) => a.startsWith('GET /api/v1/search?'));
  await until(
    () =>
      /severity=error/.test(asked().at(-1)!) &&
      /layer=ingress/.test(asked().at(-1)!) &&
      /service=nginx/.test(asked().at(-1)!),
  );
  await page.goto(`${f.url}/ui/search?q=newly`);
  await page.getByText('No record says that').waitFor();
  await page.clock.resume();
  await page.getByRole('button', { name: 'Live' }).click();
  await page.getByRole('button', { name: '● Live' }).waitFor();
  assert.ok(query(page).has('tail'));
  f.world.events.push({ ...f.world.events.at(-1)!, ref: 'e-newly', body: 'newly written', summary: 'newly written' });
  await page.getByText('newly written').first().waitFor();
  f.world.events.pop();
  await close();
});

test('keyboard alone: from the first page by search to the allocation, its evidence and a dry run', async () => {
  const { page, close } = await open('/ui/');
  await page.locator('section[aria-label="hardware"]').waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('wipe5');
  await page.keyboard.press('Enter');
  await page.waitForURL(/allocations\/a43$/);
  await drawn(page);
  const reach = async (name: RegExp) => {
    for (let i = 0; i < 120; i++) {
      await page.keyboard.press('Tab');
      const at = await page.evaluate(() => {
        const e = document.activeElement as HTMLElement | null;
        const box = e?.getBoundingClientRect();
        const style = e ? getComputedStyle(e) : undefined;
        return {
          text:
            e?.getAttribute('aria-label') ??
            (e as HTMLInputElement | null)?.labels?.[0]?.innerText ??
            e?.innerText ??
            '',
          seen: Boolean(box && box.width > 0 && style && (style.outlineStyle !== 'none' || style.boxShadow !== 'none')),
        };
      });
      if (name.test(at.text)) return assert.ok(at.seen, `nobody sees that ${at.text} has the focus`);
    }
    assert.fail(`Tab does not reach ${String(name)}`);
  };
  await reach(/records? of evidence/);
  await page.keyboard.press('Enter');
  await page.locator('.proof button').first().waitFor();
  await page.keyboard.press('Tab');
  while (!(await page.evaluate(() => document.activeElement?.closest('.proof') !== null)))
    await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.locator('.drawer').getByText('Evidence for').waitFor();
  await page.keyboard.press('Escape');
  await page.goto(`${f.url}/ui/allocations/a43`);
  await drawn(page);
  await reach(/^Recover…/);
  await page.keyboard.press('Enter');
  await page.getByLabel('retry-release').focus();
  await page.keyboard.press('Space');
  await reach(/Reason, for the audit log/);
  await page.keyboard.type('the disk was replaced');
  await reach(/^Dry run/);
  await page.keyboard.press('Enter');
  await page.getByText('It would do this').waitFor();
  assert.equal(f.posted.at(-1)!['dry_run'], true);
  await reach(/^Do it/);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Done' }).waitFor();
  assert.equal(f.posted.at(-1)!['dry_run'], false);
  await until(() => page.evaluate(() => document.activeElement?.closest('dialog') !== null)); // not lost
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  await page.keyboard.press('h');
  await page.waitForURL(/\/ui\/$/);
  await close();
});
