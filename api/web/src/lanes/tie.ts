import type { Item, Lane } from './scene.ts';

interface Place {
  lane: number;
  u: number;
  row: number;
}

// Tie leads from what is evidence to a symptom that follows from it.
export interface Tie {
  fault: number;
  from: Place;
  to: Place;
}

const most = 14; // of one fault: more would be a veil

// ties join each symptom with the newest evidence of its fault before it, in another lane where there is one. Of many, those are
// kept that lie apart.
export function ties(lanes: Lane[], faults: { symptoms: Set<string>; evidence: Set<string> }[]): Tie[] {
  const all = lanes.flatMap((l) => l.items).sort((a, b) => a.from - b.from);
  const out: Tie[] = [];
  faults.forEach((f, fault) => {
    const evidence = all.filter((i) => f.evidence.has(i.ref));
    const mine: Tie[] = [];
    for (const s of all) {
      if (!f.symptoms.has(s.ref) || f.evidence.has(s.ref)) continue;
      const cause = nearest(evidence, s);
      if (cause) mine.push({ fault, from: placed(cause), to: placed(s) });
    }
    const step = Math.max(1, mine.length / most);
    for (let i = 0; i < mine.length; i += step) out.push(mine[Math.floor(i)]!);
  });
  return out;
}

const placed = (i: Item): Place => ({ lane: i.lane, u: i.u0, row: i.row });

// nearest looks before the symptom, then, because clocks differ, right behind it.
function nearest(evidence: Item[], s: Item): Item | undefined {
  let best: Item | undefined;
  for (const e of evidence) {
    if (e.from > s.from + 1000) break;
    if (e.lane !== s.lane) best = e;
  }
  return best ?? evidence.find((e) => e.lane !== s.lane);
}
