import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FullEvent } from '../api/answers.ts';
import { waterfall } from './waterfall.ts';

const span = (span_id: string, parent_span_id: string, at: number): FullEvent => ({
  time: new Date(at).toISOString(),
  end_time: new Date(at + 10).toISOString(),
  observed_time: '',
  ingested_time: '',
  signal: 'span',
  layer: '',
  source: '',
  severity: '',
  attributes: {},
  resource: {},
  ids: {},
  via: '',
  ref: span_id,
  summary: '',
  span_id,
  parent_span_id,
});

test('spans stand under what caused them; lost parents and circles lose nothing', () => {
  const steps = waterfall([
    span('c', 'b', 3),
    span('a', '', 1),
    span('b', 'a', 2),
    span('x', 'gone', 0),
    span('p', 'q', 5),
    span('q', 'p', 6),
  ]);
  assert.deepEqual(
    steps.map((s) => [s.event.ref, s.depth]),
    [
      ['x', 0],
      ['a', 0],
      ['b', 1],
      ['c', 2],
      ['p', 0],
      ['q', 1],
    ],
  );
});
