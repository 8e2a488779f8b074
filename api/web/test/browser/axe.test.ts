import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { large } from '../fake/large.ts';
import { fake } from '../fake/server.ts';
import { browser, look } from './chromium.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Found {
  violations: { id: string; nodes: { target: string[]; failureSummary: string }[] }[];
}

// The page's own policy lets no script in; only here it is left out, so that axe-core can be.
test('axe-core finds nothing in any view, in either theme', async () => {
  const f = await fake([large(2000)]);
  const b = await browser();
  const trace = f.world.events.find((e) => e.name === 'create allocation')!.ids['trace_id']!;
  const ref = f.world.allocations.get('a43')!.verdict.faults[0]!.evidence[0]!;
  const paths = [
    '/ui/',
    '/ui/allocations/a43',
    `/ui/allocations/a43?ref=${ref}`,
    '/ui/allocations/b-9',
    '/ui/allocations/a-large',
    '/ui/nodes/gpu-17',
    `/ui/incidents/${f.world.incidents[0]!.incident_id}`,
    '/ui/rules?q=cert',
    '/ui/sources',
    `/ui/traces/${trace}`,
    '/ui/search?q=certificate',
  ];
  const found: string[] = [];
  const check = async (page: Page, what: string) => {
    await page.evaluate(axe);
    const answer = await page.evaluate(() =>
      (window as unknown as { axe: { run(o: object): Promise<Found> } }).axe.run({
        runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
      }),
    );
    for (const v of answer.violations)
      found.push(
        `${what}: ${v.id} ${v.nodes
          .slice(0, 3)
          .map((n) => `${n.target.join(' ')} ${n.failureSummary}`)
          .join(' | ')}`,
      );
  };
  for (const theme of ['light', 'dark'] as const) {
    const { context, page } = await look(b, { theme, bypassCSP: true });
    for (const path of paths) {
      await page.goto(f.url + path);
      await page.waitForTimeout(500);
      await check(page, `${theme} ${path}`);
    }
    await page.goto(`${f.url}/ui/allocations/a43`);
    await page.getByRole('button', { name: 'Recover…' }).click();
    await page.getByLabel('retry-release').check();
    await check(page, `${theme} recovery`);
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await check(page, `${theme} help`);
    await context.close();
  }
  f.token = 'x';
  const { page } = await look(b, { bypassCSP: true });
  await page.goto(`${f.url}/ui/`);
  await page.getByLabel('Token').waitFor();
  await check(page, 'signing in');
  await b.close();
  await f.close();
  assert.deepEqual(found, []);
});
