import assert from 'node:assert/strict';
import { test } from 'node:test';
import { density } from './density.ts';
import type { Mark } from './mark.ts';
import { packed } from './pack.ts';
import type { Item } from './scene.ts';

const item = (u0: number, mark: Mark = 'ordinary', u1 = u0): Item => ({
  index: 0,
  ref: '',
  lane: 0,
  from: u0,
  u0,
  u1,
  row: -1,
  mark,
  label: '',
  open: false,
  failed: false,
});

test('few events are drawn one by one', () => {
  const seen = density([item(0.1), item(0.2), item(0.3)], 0, 1, 1000);
  assert.equal(seen.crowded, false);
  assert.equal(seen.single.length, 3);
});

test('many are stacked, none is lost, and evidence is still drawn by itself', () => {
  const all = Array.from({ length: 5000 }, (_, i) => item(i / 5000, i === 2500 ? 'evidence' : 'ordinary'));
  const seen = density(all, 0, 1, 1000);
  assert.equal(seen.crowded, true);
  assert.equal(
    seen.stacks.reduce((n, s) => n + s.total, 0),
    5000,
  );
  assert.equal(seen.single.length, 1);
  assert.ok(seen.stacks.length <= 251);
});

test('only what is between the edges is looked at', () => {
  const all = Array.from({ length: 5000 }, (_, i) => item(i / 5000));
  assert.ok(density(all, 0.5, 0.502, 1000).single.length < 40);
});

test('bars do not cover each other until their rows are used up', () => {
  const bars = [
    item(0, 'ordinary', 1),
    item(0.1, 'ordinary', 0.3),
    item(0.2, 'ordinary', 0.4),
    item(0.35, 'ordinary', 0.5),
  ];
  assert.equal(packed(bars), 3);
  assert.deepEqual(
    bars.map((b) => b.row),
    [0, 1, 2, 1],
  );
});
