import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from '../../test/fake/world.ts';
import { markdown, plain } from './markdown.ts';
import { passages } from './passage.ts';

const world = load();

test('the copy for the channel says whose, why, what next, and where to look', () => {
  const text = markdown(world.allocations.get('a43')!, 'https://faultline/ui/allocations/a43');
  for (const part of [
    '**Allocation a43**: release failed',
    '**cert** owns it',
    'owner: platform PKI',
    'next check:',
    'safe action:',
    'evidence (5 records)',
    'drift: ui shows state active',
    'https://faultline/ui/allocations/a43',
  ])
    assert.ok(text.includes(part), part);
});

test('what records say is no Markdown, no mention and no link', () => {
  assert.equal(plain('<img> *x* @all [a](b) `c`'), '\\<img\\> \\*x\\* @\u200ball \\[a\\](b) \\`c\\`');
  const text = markdown(world.allocations.get('a-hostile')!, 'x');
  assert.ok(!/[^\\]<img/.test(text));
  assert.ok(!text.includes('\u001b'));
});

test('undetermined says what is missing', () => {
  const text = markdown(world.allocations.get('b-9')!, 'x');
  assert.ok(text.includes('**Undetermined.**') && text.includes('missing: ingress, no telemetry'));
});

test('states are read in order, with how long they lasted', () => {
  const all = passages(world.allocations.get('a43')!.timeline, Date.parse('2026-03-02T11:14:00Z'));
  assert.deepEqual(
    all.map((p) => p.state),
    ['active', 'releasing', 'release_failed', 'releasing', 'release_failed'],
  );
});
