import type { Idle } from './idle.ts';

// Axis maps times to a line from 0 to 1 on which idle time is folded to a narrow strip. Zooming is a part of that line.
export interface Axis {
  readonly from: number;
  readonly to: number;
  readonly folds: (Idle & { u0: number; u1: number })[];
  at(time: number): number;
  time(u: number): number;
}

interface Piece {
  t0: number;
  t1: number;
  u0: number;
  u1: number;
}

const strip = 0.028; // of the line, for each fold
const margin = 0.012; // before the first and after the last

export function axis(from: number, to: number, idles: Idle[]): Axis {
  const end = to > from ? to : from + 1000;
  const folded = idles.reduce((sum, i) => sum + i.to - i.from, 0);
  const busy = Math.max(1, end - from - folded);
  const room = 1 - 2 * margin - strip * idles.length;
  const pieces: Piece[] = [];
  const folds: Axis['folds'] = [];
  let t = from;
  let u = margin;
  const add = (until: number, width: number) => {
    pieces.push({ t0: t, t1: until, u0: u, u1: u + width });
    t = until;
    u += width;
  };
  for (const i of idles) {
    add(i.from, ((i.from - t) / busy) * room);
    folds.push({ ...i, u0: u, u1: u + strip });
    add(i.to, strip);
  }
  add(end, ((end - t) / busy) * room);
  const first = pieces[0]!;
  const last = pieces.at(-1)!;
  const slope = room / busy;
  return {
    from,
    to: end,
    folds,
    at(time) {
      if (time <= first.t0) return Math.max(0, first.u0 - (first.t0 - time) * slope);
      if (time >= last.t1) return Math.min(1, last.u1 + (time - last.t1) * slope);
      const p = find(pieces, (x) => time <= x.t1);
      return p.t1 === p.t0 ? p.u0 : p.u0 + ((time - p.t0) / (p.t1 - p.t0)) * (p.u1 - p.u0);
    },
    time(at) {
      if (at <= first.u0) return first.t0 - (first.u0 - at) / slope;
      if (at >= last.u1) return last.t1 + (at - last.u1) / slope;
      const p = find(pieces, (x) => at <= x.u1);
      return p.u1 === p.u0 ? p.t0 : p.t0 + ((at - p.u0) / (p.u1 - p.u0)) * (p.t1 - p.t0);
    },
  };
}

function find(pieces: Piece[], test: (p: Piece) => boolean): Piece {
  return pieces.find(test) ?? pieces.at(-1)!;
}

const steps = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000,
  900_000, 1_800_000, 3_600_000, 7_200_000, 14_400_000, 21_600_000, 43_200_000, 86_400_000, 172_800_000, 604_800_000,
];

export interface Tick {
  u: number;
  time: number;
}

// ticks are round times between two places of the line, not nearer to each other than apart, and none inside a fold.
export function ticks(a: Axis, u0: number, u1: number, apart: number): { step: number; ticks: Tick[] } {
  const busy = a.folds.reduce((sum, f) => sum + Math.max(0, Math.min(f.u1, u1) - Math.max(f.u0, u0)), 0);
  const shown = Math.max(1e-9, u1 - u0 - busy);
  let real = a.time(u1) - a.time(u0);
  for (const f of a.folds) if (f.u1 > u0 && f.u0 < u1) real -= f.to - f.from;
  const per = Math.max(real, 0.001) / shown;
  const step = steps.find((s) => s / per >= apart) ?? steps.at(-1)!;
  const out: Tick[] = [];
  // one stretch between folds at a time: a loop over all of a folded week would never end
  const edges = [
    a.time(u0),
    ...a.folds.filter((f) => f.u1 > u0 && f.u0 < u1).flatMap((f) => [f.from, f.to]),
    a.time(u1),
  ];
  for (let i = 0; i + 1 < edges.length; i += 2) {
    for (let t = Math.ceil(edges[i]! / step) * step; t <= edges[i + 1]! && out.length < 100; t += step) {
      const u = a.at(t);
      const before = out.at(-1);
      if (u >= u0 && u <= u1 && (!before || u - before.u >= apart * 0.8)) out.push({ u, time: t });
    }
  }
  return { step, ticks: out };
}
