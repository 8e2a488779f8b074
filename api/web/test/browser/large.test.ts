import assert from 'node:assert/strict';
import { test } from 'node:test';
import { large } from '../fake/large.ts';
import { fake } from '../fake/server.ts';
import { measure } from '../measure.ts';
import { browser } from './chromium.ts';

// The goals, 500 ms and 50 frames per second, are measured by `npm run bench` on a quiet machine. Here the page shares
// two cores with every other test: what it may take is a multiple of them, which a page that draws every event exceeds.
const most = { first: 2000, fps: 12 };
const tries = 3;

test('10,000 events: lanes at once, few nodes, and smooth', async () => {
  const f = await fake([large()]);
  const b = await browser();
  let m = await measure(b, f.url, 2);
  for (let i = 1; i < tries && (m.first > most.first || Math.min(m.zoom, m.pan) < most.fps); i++)
    m = await measure(b, f.url, 2);
  await b.close();
  await f.close();
  assert.ok(m.first <= most.first, `first lanes after ${m.first} ms`);
  assert.ok(m.nodes <= 400, `${m.nodes} nodes`);
  assert.ok(m.zoom >= most.fps && m.pan >= most.fps, `zoom ${m.zoom}, pan ${m.pan} frames per second`);
});
