import type { Entry, FullEvent } from '../../src/api/answers.ts';

// recorded is the record behind an entry whose own was not kept.
export function recorded(e: Entry): FullEvent {
  return {
    time: e.time,
    observed_time: e.observed_time,
    ingested_time: e.observed_time,
    signal: e.kind === 'span' ? 'span' : 'log',
    layer: e.layer,
    source: e.source,
    name: e.name,
    severity: e.severity,
    body: e.summary,
    attributes: { 'event.name': e.name, message: e.summary },
    resource: { 'service.name': e.source },
    ids: e.ids,
    via: e.via,
    ref: e.ref,
    summary: e.summary,
  };
}
