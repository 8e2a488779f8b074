import type { Entry, FullEvent } from '../api/answers.ts';
import type { Mark } from '../lanes/mark.ts';

// Row is one line of a table of records.
export interface Row {
  time: string;
  layer: string;
  source: string;
  kind: string;
  severity: string;
  summary: string;
  mark: Mark;
  ref: string;
  allocation: string;
}

export function rowOf(e: Entry, mark: Mark): Row {
  return {
    time: e.time,
    layer: e.layer,
    source: e.source,
    kind: e.kind,
    severity: e.severity,
    summary: e.summary,
    mark,
    ref: e.ref,
    allocation: e.ids['allocation_id'] ?? '',
  };
}

export function rowOfRecord(e: FullEvent): Row {
  const loud = e.severity === 'error' || e.severity === 'fatal';
  return {
    time: e.time,
    layer: e.layer,
    source: e.source,
    kind: e.signal,
    severity: e.severity,
    summary: e.summary,
    mark: loud ? 'error' : e.name === 'heartbeat' ? 'heartbeat' : 'ordinary',
    ref: e.ref,
    allocation: e.ids['allocation_id'] ?? '',
  };
}
