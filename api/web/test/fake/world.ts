// The answers of test/fixtures, put together as one server would give them.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Allocation, Catalog, FullEvent, Incident, Listed, Revision, Verdict } from '../../src/api/answers.ts';
import { recorded } from './recorded.ts';

export const fixtures = join(import.meta.dirname, '..', 'fixtures');

// now is when the world is looked at: shortly after its newest story. The examples are of another day; they are moved.
export const now = '2026-03-02T11:14:00Z';
const examplesDay = /2026-11-21T/g;

type Answers = Record<string, unknown>;

export interface World {
  allocations: Map<string, Allocation>;
  answers: Map<string, unknown>; // every recorded answer, by path
  events: FullEvent[]; // oldest first
  listed: Listed[];
  incidents: Incident[];
  stuck: Record<string, unknown>[];
  drift: Record<string, unknown>[];
  rules: Catalog;
}

export function load(more: Allocation[] = []): World {
  const w: World = {
    allocations: new Map(),
    answers: new Map(),
    events: [],
    listed: [],
    incidents: [],
    stuck: [],
    drift: [],
    rules: { rules_version: '', tiebreaks: [], rules: [] },
  };
  for (const name of readdirSync(fixtures).filter((n) => n.endsWith('.json'))) {
    const text = readFileSync(join(fixtures, name), 'utf8').replace(examplesDay, '2026-03-02T');
    const answers = JSON.parse(text) as Answers;
    for (const [path, answer] of Object.entries(answers)) add(w, path, answer);
  }
  for (const a of [contested(w), ...more]) {
    w.allocations.set(a.allocation_id, a);
    w.answers.set(`/allocations/${a.allocation_id}`, a);
    w.listed.push(listed(w, a.allocation_id, a.timeline.at(-1)?.time ?? now));
    if (a.allocation_id !== 'a-contested')
      w.events.push(...a.timeline.filter((e) => e.ref !== '').map((e) => recorded(e)));
  }
  w.events = [...new Map(w.events.map((e) => [e.ref, e])).values()].sort((a, b) => (a.time < b.time ? -1 : 1));
  w.listed = w.listed
    .map((l) => ({ ...l, ...listed(w, l.allocation_id, l.last_seen) }))
    .sort((a, b) => (a.last_seen < b.last_seen ? 1 : -1));
  return w;
}

function add(w: World, path: string, answer: unknown): void {
  const whole = /^\/allocations\/([^/?]+)$/.exec(path);
  if (whole) w.allocations.set(decodeURIComponent(whole[1]!), answer as Allocation);
  if (path === '/allocations') w.listed.push(...(answer as { allocations: Listed[] }).allocations);
  else if (path === '/incidents') w.incidents.push(...(answer as { incidents: Incident[] }).incidents);
  else if (path === '/stuck') w.stuck.push(...(answer as { allocations: Record<string, unknown>[] }).allocations);
  else if (path === '/drift') w.drift.push(...(answer as { drift: Record<string, unknown>[] }).drift);
  else if (path === '/rules') w.rules = answer as Catalog;
  else if (path.startsWith('/events')) w.events.push(...(answer as { events: FullEvent[] }).events);
  w.answers.set(path, answer);
}

// listed is a line of the list as the server is going to give it: with the verdict in short.
function listed(w: World, id: string, lastSeen: string): Listed {
  const a = w.allocations.get(id)!;
  const fault = a.verdict.faults.find((f) => f.cleared_at === null) ?? a.verdict.faults[0];
  const stuck = w.stuck.find((s) => s['allocation_id'] === id);
  const overdue = stuck ? Math.round((Date.parse(now) - Date.parse(String(stuck['deadline']))) / 1000) : undefined;
  return {
    allocation_id: id,
    state: a.state,
    since: a.since,
    last_seen: lastSeen,
    outcome: a.verdict.outcome,
    ...(fault && { layer: fault.layer, confidence: fault.confidence, team: fault.owner.team, summary: fault.summary }),
    stuck: stuck !== undefined,
    ...(overdue !== undefined && { overdue_seconds: overdue }),
  };
}

export function revisions(w: World, id: string): Revision[] {
  const kept = w.answers.get(`/allocations/${id}/history`) as { revisions: Revision[] } | undefined;
  return kept?.revisions ?? [];
}

// asOf replays: what had been observed by then, with what was said then.
export function asOf(w: World, id: string, at: string | null): Allocation | undefined {
  const a = w.allocations.get(id);
  if (!a || !at) return a;
  const said = revisions(w, id).filter((r) => Date.parse(r.judged_at) <= Date.parse(at));
  const last = said.at(-1)?.assessment;
  const none: Verdict = {
    ...a.verdict,
    outcome: 'none',
    explanation: 'nothing was known yet.',
    faults: [],
    candidates: [],
    missing: [],
    drift: [],
    findings: [],
  };
  return {
    ...a,
    state: last?.state ?? null,
    since: last?.since ?? null,
    timeline: a.timeline.filter((e) => Date.parse(e.observed_time) <= Date.parse(at)),
    verdict: last?.verdict ?? none,
  };
}

// contested is the story of a43 as it would be if both of its causes stood on equal evidence: no story ends so any more.
function contested(w: World): Allocation {
  const a = w.allocations.get('a43')!;
  return { ...a, allocation_id: 'a-contested', state: 'failed', verdict: { ...a.verdict, outcome: 'contested' } };
}
