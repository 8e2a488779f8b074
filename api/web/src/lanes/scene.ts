import type { Allocation, Handoff } from '../api/answers.ts';
import { millis } from '../time/time.ts';
import { axis, type Axis } from './axis.ts';
import { idle } from './idle.ts';
import { cited, markOf, weight, type Mark } from './mark.ts';
import { packed } from './pack.ts';
import { runs } from './run.ts';
import { silences, type Silence } from './silence.ts';
import { ties, type Tie } from './tie.ts';

// Item is one thing to draw: a point, or a bar where it lasts. Places are on the axis' line.
export interface Item {
  index: number; // of its entry in the timeline
  ref: string;
  lane: number;
  from: number;
  u0: number;
  u1: number;
  row: number; // -1: among the points
  mark: Mark;
  label: string;
  open: boolean;
  failed: boolean;
}

export interface Lane {
  layer: string;
  team: string;
  items: Item[]; // points in order of time, for searching
  bars: Item[];
  rows: number;
  top: number;
  height: number;
  middle: number; // of the points
  barTop: number;
}

export interface FaultBar {
  fault: number;
  lane: number;
  u0: number;
  u1: number;
  open: boolean;
  label: string;
}

export interface Passed extends Handoff {
  fromLane: number;
  toLane: number;
  u: number;
}

// Scene is all that the lanes show of one answer; it does not depend on zoom or width.
export interface Scene {
  axis: Axis;
  lanes: Lane[];
  height: number;
  silences: (Silence & { lane: number; u0: number; u1: number })[];
  faults: FaultBar[];
  ties: Tie[];
  handoffs: Passed[];
  order: number[]; // entries in order of time, gaps left out, for going from one to the next
}

export interface Shown {
  evidenceOnly: boolean;
  hideSymptoms: boolean;
}

const points = 26; // px for the points of a lane
const row = 15; // px for a row of bars
const label = 12; // px for the words of a silence
const apart = 5;
const long = 0.004; // of the line: what is shorter is a point

export function scene(
  a: Allocation,
  layers: string[],
  owners: Map<string, string>,
  handoffs: Handoff[],
  shown: Shown,
): Scene {
  const c = cited(a.verdict);
  const entries = a.timeline;
  const times = entries.map((e) => millis(e.time));
  const kept = entries.map((e) => {
    const mark = markOf(e, c);
    if (shown.evidenceOnly && mark !== 'evidence') return false;
    return !(shown.hideSymptoms && mark === 'symptom');
  });
  let from = Infinity;
  let to = -Infinity;
  for (const t of times) {
    if (t < from) from = t;
    if (t > to) to = t;
  }
  if (from > to) from = to = millis(a.verdict.as_of);
  const known = new Set(entries.map((e) => e.layer));
  const lasting = runs(entries, to, known);
  const moments = times.filter((_, i) => entries[i]!.kind !== 'heartbeat' && entries[i]!.kind !== 'projection');
  for (const r of lasting) if (r.to <= to) moments.push(r.to);
  moments.push(from, to);
  const line = axis(from, to, idle(moments.sort((x, y) => x - y)));
  const quiet = silences(entries, a.verdict, from, to);

  const wanted = new Set([...known, ...a.verdict.faults.map((f) => f.layer), ...quiet.map((s) => s.layer)]);
  const names = [...layers.filter((l) => wanted.has(l)), ...[...wanted].filter((l) => !layers.includes(l))];
  const lanes: Lane[] = names.map((layer) => ({
    layer,
    team: owners.get(layer) ?? '',
    items: [],
    bars: [],
    rows: 0,
    top: 0,
    height: 0,
    middle: 0,
    barTop: 0,
  }));
  const laneOf = new Map(names.map((n, i) => [n, i]));

  const barOf = new Set<number>(); // entries that are drawn as bars alone
  for (const r of lasting) {
    const entry = entries[r.index]!;
    if (!r.refs.some((ref) => keptRef(ref))) continue;
    const u0 = line.at(r.from);
    const u1 = line.at(r.to);
    if (u1 - u0 < long) continue;
    const best = r.refs
      .map((ref) => markOf({ ...entry, ref, severity: r.failed ? 'error' : 'info' }, c))
      .reduce((x, y) => (weight[y] > weight[x] ? y : x));
    const lane = laneOf.get(r.layer)!;
    lanes[lane]!.bars.push({
      index: r.index,
      ref: entry.ref,
      lane,
      from: r.from,
      u0,
      u1,
      row: 0,
      mark: best,
      label: r.label,
      open: r.open,
      failed: r.failed,
    });
    if (entry.kind === 'span') barOf.add(r.index);
  }
  const spanEnd = new Map(lasting.filter((r) => entries[r.index]!.kind === 'span').map((r) => [r.index, r.to]));
  entries.forEach((e, index) => {
    if (!kept[index] || barOf.has(index) || e.kind === 'gap') return;
    const lane = laneOf.get(e.layer)!;
    const u0 = line.at(times[index]!);
    const mark = markOf(e, c);
    lanes[lane]!.items.push({
      index,
      ref: e.ref,
      lane,
      from: times[index]!,
      u0,
      u1: line.at(spanEnd.get(index) ?? times[index]!),
      row: -1,
      mark,
      label: '',
      open: false,
      failed: false,
    });
  });

  function keptRef(ref: string): boolean {
    if (shown.evidenceOnly) return c.evidence.has(ref);
    return !(shown.hideSymptoms && c.symptoms.has(ref));
  }

  const faults: FaultBar[] = a.verdict.faults.map((f, fault) => ({
    fault,
    lane: laneOf.get(f.layer)!,
    u0: line.at(millis(f.onset)),
    u1: line.at(f.cleared_at ? millis(f.cleared_at) : to) + (f.cleared_at ? 0 : 1),
    open: f.cleared_at === null,
    label: f.rule,
  }));

  let top = 0;
  for (const lane of lanes) {
    lane.items.sort((x, y) => x.u0 - y.u0);
    lane.rows = packed(lane.bars);
    const bare = lane.items.length === 0 && lane.rows > 0 && !faults.some((f) => lanes[f.lane] === lane);
    lane.top = top;
    lane.middle = top + points / 2;
    lane.barTop = top + (bare ? 5 : points - 2);
    const silent = quiet.some((s) => s.layer === lane.layer) && lane.items.length > 0;
    lane.height = (bare ? 5 : points) + lane.rows * row + (lane.rows > 0 ? 3 : 0) + (silent ? label : 0);
    top += lane.height + apart;
  }

  return {
    axis: line,
    lanes,
    height: Math.max(top - apart, points),
    silences: quiet.map((s) => ({ ...s, lane: laneOf.get(s.layer)!, u0: line.at(s.from), u1: line.at(s.to) })),
    faults,
    ties:
      shown.hideSymptoms || shown.evidenceOnly
        ? []
        : ties(
            lanes.map((l) => ({ ...l, items: [...l.items, ...l.bars] })),
            a.verdict.faults.map((f) => ({ symptoms: new Set(f.symptoms), evidence: new Set(f.evidence) })),
          ),
    handoffs: handoffs
      .filter((h) => laneOf.has(h.from) && laneOf.has(h.to))
      .map((h) => ({ ...h, fromLane: laneOf.get(h.from)!, toLane: laneOf.get(h.to)!, u: line.at(millis(h.at)) })),
    order: entries
      .map((_, i) => i)
      .filter((i) => kept[i] && entries[i]!.kind !== 'gap')
      .sort((x, y) => times[x]! - times[y]! || x - y),
  };
}

export const rowHeight = row;
