import type { Entry, Verdict } from '../api/answers.ts';

// Mark is what an entry means for the verdict. Every mark has a shape of its own, so that colour is never needed to tell them apart.
export type Mark = 'evidence' | 'symptom' | 'error' | 'human' | 'ordinary' | 'heartbeat';

export const marks: { mark: Mark; glyph: string; word: string }[] = [
  { mark: 'evidence', glyph: '◆', word: 'evidence' },
  { mark: 'symptom', glyph: '▲', word: 'symptom' },
  { mark: 'error', glyph: '✕', word: 'error' },
  { mark: 'human', glyph: '■', word: "somebody's hand" },
  { mark: 'ordinary', glyph: '●', word: 'event' },
  { mark: 'heartbeat', glyph: '╵', word: 'sign of life' },
];

export const glyphOf = new Map(marks.map((m) => [m.mark, m]));

// weight orders marks by what must not be hidden by something else.
export const weight: Record<Mark, number> = { heartbeat: 0, ordinary: 1, error: 2, human: 3, symptom: 4, evidence: 5 };

const loud = new Set(['error', 'fatal']);

export interface Cited {
  evidence: Map<string, number>; // ref → which fault
  symptoms: Map<string, number>;
}

export function cited(v: Verdict): Cited {
  const out: Cited = { evidence: new Map(), symptoms: new Map() };
  v.faults.forEach((f, i) => {
    for (const ref of f.evidence) if (!out.evidence.has(ref)) out.evidence.set(ref, i);
    for (const ref of f.symptoms) if (!out.symptoms.has(ref)) out.symptoms.set(ref, i);
  });
  return out;
}

export function markOf(e: Entry, c: Cited): Mark {
  if (c.evidence.has(e.ref)) return 'evidence';
  if (c.symptoms.has(e.ref)) return 'symptom';
  if (e.kind === 'heartbeat') return 'heartbeat';
  if (e.kind === 'audit') return 'human';
  if (loud.has(e.severity)) return 'error';
  return 'ordinary';
}
