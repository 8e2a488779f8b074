import type { Entry, Verdict } from '../api/answers.ts';
import { millis } from '../time/time.ts';
import { oneLine } from '../text/visible.ts';

// Silence is where a layer should have spoken and did not.
export interface Silence {
  layer: string;
  from: number;
  to: number;
  label: string;
}

const between = /(\d\d):(\d\d):(\d\d)–(\d\d):(\d\d):(\d\d)/;

// silences come of gaps in the timeline, which say when something was due, and of what the verdict misses.
export function silences(timeline: Entry[], v: Verdict, from: number, to: number): Silence[] {
  const first = new Map<string, number>(); // identifier → when it is first told of
  for (const e of timeline) for (const id of Object.values(e.ids)) if (!first.has(id)) first.set(id, millis(e.time));
  const out: Silence[] = [];
  timeline.forEach((e, i) => {
    if (e.kind !== 'gap') return;
    const at = millis(e.time);
    const seen = clockRange(e.summary, at);
    const about = e.summary
      .match(/[\w./-]+/g)
      ?.map((w) => first.get(w))
      .find((t) => t !== undefined && t < at);
    const before = timeline.slice(0, i).findLast((x) => x.layer === e.layer && x.kind !== 'gap');
    const begin = seen?.from ?? about ?? (before ? millis(before.time) : from);
    out.push({
      layer: e.layer,
      from: begin,
      to: seen?.to ?? at,
      label: oneLine(e.summary.replace(/^expected from \w+, not seen: /, 'expected: ')),
    });
  });
  for (const m of v.missing) {
    const layer = m.layer ?? '';
    if (out.some((s) => s.layer === layer)) continue;
    const seen = clockRange(m.why ?? '', to);
    // a silence of one moment is drawn over all that is shown: its lane has nothing else
    const whole = !seen || seen.to - seen.from < 1000;
    out.push({
      layer,
      from: whole ? from : seen.from,
      to: whole ? to : seen.to,
      label: `missing: ${oneLine(m.why ?? '')}`,
    });
  }
  return out;
}

// clockRange reads "10:00:00–10:05:00" as times of the day that a moment lies on.
export function clockRange(text: string, beside: number): { from: number; to: number } | undefined {
  const found = between.exec(text)?.slice(1).map(Number);
  if (!found) return undefined;
  const midnight = Math.floor(beside / 86_400_000) * 86_400_000;
  const [h1, m1, s1, h2, m2, s2] = found as [number, number, number, number, number, number];
  const from = midnight + ((h1 * 60 + m1) * 60 + s1) * 1000;
  const to = midnight + ((h2 * 60 + m2) * 60 + s2) * 1000;
  return { from: to < from ? from - 86_400_000 : from, to };
}
