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

async function open(path: string, o = {}): Promise<{ page: Page; close(): Promise<void> }> {
  const { context, page } = await look(b, o);
  await page.goto(f.url + path);
  await drawn(page);
  return { page, close: () => context.close() };
}

const query = (page: Page) => new URL(page.url()).searchParams;

test('whose, why and what next stand before the first scroll', async () => {
  const { page, close } = await open('/ui/allocations/a43', { width: 1440, height: 900 });
  for (const text of [
    'a disk of the node reports errors',
    'a certificate has expired',
    'platform PKI',
    'Next check',
    'Safe action',
    '11 m 18 s over its budget',
    'Drift: ui shows state',
  ]) {
    const box = await page.getByText(text).first().boundingBox();
    assert.ok(box && box.y + box.height < 900, text);
  }
  const lanes = await page.locator('.field').boundingBox();
  assert.ok(lanes && lanes.y < 620);
  await close();
});

test('keyboard alone: to the lanes, from event to event, to the record and back', async () => {
  const { page, close } = await open('/ui/allocations/a43');
  await page.keyboard.press('ArrowRight');
  await page.locator('.drawer').waitFor();
  const first = query(page).get('ref');
  await page.keyboard.press('ArrowRight');
  await until(() => query(page).get('ref') !== first);
  const said = page.locator('[aria-live=polite].unseen');
  await until(async () => /04:00:00\.\d+, workflow, ordinary/.test(await said.innerText()));
  await page.keyboard.press('ArrowLeft');
  await until(() => query(page).get('ref') === first);
  await page.keyboard.press('Escape');
  await page.locator('.drawer').waitFor({ state: 'detached' });
  await page.keyboard.press('e');
  await page.getByRole('button', { name: 'Evidence only' }).and(page.locator('[aria-pressed=true]')).waitFor();
  await page.locator('[role=grid][aria-rowcount="16"]').waitFor();
  await page.keyboard.press('e');
  await page.keyboard.press('s');
  await until(() => query(page).has('nosymptoms'));
  await page.keyboard.press('t');
  await page.locator('[role=grid]').waitFor({ state: 'detached' });
  await page.keyboard.press('?');
  const keys = page.getByRole('heading', { name: 'Keys' });
  await keys.waitFor();
  await page.keyboard.press('Escape');
  await keys.waitFor({ state: 'hidden' }); // while it is open, keys are its own
  await page.locator('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('+');
  await until(() => query(page).has('from'));
  await page.keyboard.press('z');
  await until(() => !query(page).has('from'));
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press('Tab');
    if (await page.evaluate(() => document.activeElement?.classList.contains('field'))) return close();
  }
  assert.fail('Tab does not reach the lanes');
});

test('letters can be turned off', async () => {
  const { page, close } = await open('/ui/allocations/a43');
  await page.keyboard.press('?');
  const letters = page.getByRole('button', { name: /Single letters/ });
  await letters.click();
  await page.keyboard.press('Escape');
  await letters.waitFor({ state: 'hidden' });
  await page.keyboard.press('e');
  assert.ok(!query(page).has('evidence'));
  await close();
});

test('a click on a point opens its record, with how it was resolved in words, and the table follows', async () => {
  const { page, close } = await open('/ui/allocations/a43');
  await page.getByRole('button', { name: '5 records of evidence' }).click();
  await page.locator('.proof button').first().click();
  await page.locator('.drawer').getByText('Evidence for cert.expired').waitFor();
  await page.locator('.drawer').getByText('it is cited as context').waitFor();
  await until(async () => (await page.locator('[role=row][aria-selected=true]').count()) === 1);
  const field = (await page.locator('.field').boundingBox())!;
  const other = await page.evaluate(() => {
    const names = [...document.querySelectorAll('.names li')];
    return names.findIndex((n) => n.textContent === 'client');
  });
  assert.equal(other, 0);
  const before = query(page).get('ref');
  const step = 8;
  for (let x = 4; x < 120 && query(page).get('ref') === before; x += step)
    await page.mouse.click(field.x + x, field.y + 13);
  await until(() => query(page).get('ref') !== before);
  await close();
});

test('dragging zooms, the wheel does once the lanes have the focus, and the address shows the same again', async () => {
  const { page, close } = await open('/ui/allocations/a43');
  const box = (await page.locator('.field').boundingBox())!;
  const from = async (before: string | null) => {
    await until(() => query(page).get('from') !== before);
    await page.waitForTimeout(450); // until the last turn of the wheel is in the address
    return query(page).get('from');
  };
  await page.mouse.move(box.x + 200, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + 500, box.y + 60, { steps: 4 });
  await page.mouse.up();
  const zoomed = await from(null);
  assert.ok(zoomed);
  await page.locator('.field').focus();
  await page.mouse.wheel(0, -200);
  const nearer = await from(zoomed);
  await page.reload();
  await drawn(page);
  assert.equal(query(page).get('from'), nearer);
  await page.getByRole('button', { name: 'Zoom out' }).click();
  assert.equal(await from(nearer), null);
  await close();
});

test('what was said earlier is replayed, by keyboard too, and a link to it shows it', async () => {
  const { page, close } = await open('/ui/allocations/a43');
  await page.getByLabel('What was said, as it changed').focus();
  await page.keyboard.press('Home');
  await page.getByText('No fault.').waitFor();
  await until(() => query(page).get('as_of') !== null);
  await page.reload();
  await page.getByText('No fault.').waitFor();
  await page.getByRole('button', { name: 'back to now' }).click();
  await page.getByText('a certificate has expired').first().waitFor();
  await close();
});

test('what was considered and dropped is asked for when somebody wants it', async () => {
  const { page, close } = await open('/ui/allocations/a43');
  await page.getByText('What was considered, and why it was dropped').click();
  await page.getByText('kept').first().waitFor();
  await close();
});

test('the page is live by events, and asks by the clock where there are none', async () => {
  const { page, close } = await open('/ui/allocations/a43');
  await page.getByText('● live').waitFor();
  const asked = () => f.asked.filter((a) => a === 'GET /api/v1/allocations/a43').length;
  const before = asked();
  f.push('a43');
  await until(() => asked() > before);
  await close();
  f.streams = false;
  const second = await open('/ui/allocations/a43');
  await second.page.getByText('every 5 s').waitFor();
  f.streams = true;
  await second.close();
});

test('copies: the link, and Markdown for the channel', async () => {
  const { page, close } = await open('/ui/allocations/a43?evidence=1');
  const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
  await page.getByRole('button', { name: 'Copy link' }).click();
  await page.getByText('Link copied').waitFor();
  assert.ok((await clipboard()).endsWith('/ui/allocations/a43?evidence=1'));
  await page.getByRole('button', { name: 'Copy as Markdown' }).click();
  await page.getByText('Markdown copied').waitFor();
  assert.match(await clipboard(), /\*\*cert\*\* owns it/);
  await close();
});

test('recovery: a dry run first, then, with the same words, the real thing', async () => {
  const { page, close } = await open('/ui/allocations/a43');
  await page.getByRole('button', { name: 'Recover…' }).click();
  await page.getByLabel('lift-fence').check();
  await until(async () => (await page.getByLabel('Which of its nodes').inputValue()) === 'gpu-17');
  await page.getByLabel('retry-release').check();
  await page.getByText('the node is fenced').waitFor();
  const doIt = page.getByRole('button', { name: 'Do it' });
  await until(() => doIt.isDisabled());
  await page.getByLabel('Reason, for the audit log').fill('the disk was replaced');
  await page.getByRole('button', { name: 'Dry run' }).click();
  await page.getByText('It would do this').waitFor();
  assert.equal(f.posted.at(-1)!['dry_run'], true);
  await page.getByLabel('Reason, for the audit log').fill('another reason');
  await until(() => doIt.isDisabled());
  await page.getByRole('button', { name: 'Dry run' }).click();
  await doIt.and(page.locator(':enabled')).click();
  await page.getByRole('heading', { name: 'Done' }).waitFor();
  const posted = f.posted.at(-1)!;
  assert.equal(posted['dry_run'], false);
  assert.ok(posted['key']);
  await close();
});

test('who wants less motion gets none', async () => {
  const { page, close } = await open('/ui/allocations/a43', { reducedMotion: 'reduce' });
  const moving = await page.evaluate(() => document.getAnimations().length);
  assert.equal(moving, 0);
  await close();
});
