import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ago, clock, millis, span, took } from './time.ts';

test('times keep what lies below the millisecond', () => {
  assert.equal(millis('1970-01-01T00:00:01.000250000Z'), 1000.25);
  assert.equal(millis('1970-01-01T00:00:01Z'), 1000);
  assert.ok(millis('2026-03-02T10:00:00.000000900Z') > millis('2026-03-02T10:00:00.000000100Z'));
  assert.equal(clock(millis('2026-03-02T10:00:29.1239Z'), 3), '10:00:29.123');
});

test('spans are said in their two greatest units', () => {
  const cases: [number, string][] = [
    [0.25, '250 µs'],
    [140, '140 ms'],
    [2000, '2 s'],
    [2300, '2.3 s'],
    [62_000, '1 m 2 s'],
    [22_320_000, '6 h 12 m'],
    [86_400_000 * 3, '3 d'],
  ];
  for (const [ms, want] of cases) assert.equal(span(ms), want);
  assert.equal(ago(0, 5000), '5 s ago');
  assert.equal(ago(5000, 0), 'in 5 s');
});

test("a span's duration is read out of its summary, and only there", () => {
  assert.equal(took('claim 2.28ms (Get "https://x/wait?timeout=5s": expired)'), 2.28);
  assert.equal(took('create allocation 201 5.62ms'), 5.62);
  assert.equal(took('workflow provision 1m10.5s (failed)'), 70_500);
  assert.equal(took('check 30µs'), 0.03);
  assert.equal(took('GET /v1/5s'), 0);
  assert.equal(took('nothing'), 0);
});
