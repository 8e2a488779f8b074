import assert from 'node:assert/strict';
import { test } from 'node:test';
import { large } from '../fake/large.ts';
import { fake } from '../fake/server.ts';
import { measure } from '../measure.ts';
import { browser } from './chromium.ts';

// A machine that is busy with something else may be slow once; a page that is too slow is so each time.
const tries = 3;

test('10,000 events: lanes at once, few nodes, and smooth', async () => {
  const f = await fake([large()]);
  const b = await browser();
  let m = await measure(b, f.url, 2);
  for (let i = 1; i < tries && (m.first > 500 || Math.min(m.zoom, m.pan) < 50); i++) m = await measure(b, f.url, 2);
  await b.close();
  await f.close();
  assert.ok(m.first <= 500, `first lanes after ${m.first} ms`);
  assert.ok(m.nodes <= 400, `${m.nodes} nodes`);
  assert.ok(m.zoom >= 50 && m.pan >= 50, `zoom ${m.zoom}, pan ${m.pan} frames per second`);
});
