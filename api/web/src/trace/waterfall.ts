import type { FullEvent } from '../api/answers.ts';
import { millis, took } from '../time/time.ts';

// Step is one line of a waterfall.
export interface Step {
  event: FullEvent;
  depth: number;
  from: number;
  to: number;
}

// waterfall orders the records of a trace: a span under the one that caused it, logs under the span that wrote them, each by time.
// A span whose parent was not kept begins anew.
export function waterfall(events: FullEvent[]): Step[] {
  const spans = new Map(events.filter((e) => e.signal === 'span' && e.span_id).map((e) => [e.span_id!, e]));
  const children = new Map<string, FullEvent[]>();
  const roots: FullEvent[] = [];
  for (const e of events) {
    const above = e.signal === 'span' ? e.parent_span_id : e.span_id;
    if (above && spans.has(above) && spans.get(above) !== e) children.set(above, [...(children.get(above) ?? []), e]);
    else roots.push(e);
  }
  const byTime = (a: FullEvent, b: FullEvent) => millis(a.time) - millis(b.time);
  const out: Step[] = [];
  const seen = new Set<FullEvent>(); // spans that claim to cause each other
  const add = (e: FullEvent, depth: number) => {
    if (seen.has(e)) return;
    seen.add(e);
    const from = millis(e.time);
    out.push({
      event: e,
      depth,
      from,
      to: e.end_time ? millis(e.end_time) : from + (e.signal === 'span' ? took(e.summary) : 0),
    });
    if (e.signal === 'span' && e.span_id)
      for (const child of (children.get(e.span_id) ?? []).sort(byTime)) add(child, depth + 1);
  };
  for (const root of roots.sort(byTime)) add(root, 0);
  for (const e of events) add(e, 0);
  return out;
}
