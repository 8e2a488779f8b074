import type { Entry } from '../api/answers.ts';
import { millis } from '../time/time.ts';

// Passage is a state and how long it lasted.
export interface Passage {
  state: string;
  from: number;
  to: number;
}

const stated = /^allocation (?:(\w+) → )?(\w+)/;

// passages reads the states out of a timeline; end is when the last one is looked at. Steps that took no time are left out.
export function passages(timeline: Entry[], end: number): Passage[] {
  const out: Passage[] = [];
  const steps = timeline
    .filter((e) => e.name === 'allocation.state')
    .map((e) => ({ at: millis(e.time), found: stated.exec(e.summary) }))
    .sort((a, b) => a.at - b.at);
  for (const { at, found } of steps) {
    const last = out.at(-1);
    if (!found || last?.state === found[2]) continue;
    if (last) last.to = at;
    out.push({ state: found[2]!, from: at, to: end });
  }
  const total = Math.max(1, end - (out[0]?.from ?? end));
  return out.filter((p, i) => i === out.length - 1 || p.to - p.from > total / 5000);
}
