import { weight, type Mark } from './mark.ts';
import type { Item } from './scene.ts';

// Stack is a column of pixels with more events than can be told apart: how many of each mark.
export interface Stack {
  x: number;
  counts: Partial<Record<Mark, number>>;
  total: number;
}

export const column = 4; // px
const crowd = 3; // events in one column from which a lane is drawn as stacks

export interface Seen {
  crowded: boolean;
  stacks: Stack[]; // where it is crowded
  single: Item[]; // to be drawn one by one
}

// density looks at the points of a lane between two places of the line, width px apart. Evidence is never stacked away: one
// of each column is also drawn by itself.
export function density(items: Item[], u0: number, u1: number, width: number): Seen {
  const scale = width / (u1 - u0);
  const begin = lower(items, u0 - 8 / scale);
  const end = lower(items, u1 + 8 / scale);
  const stacks = new Map<number, Stack>();
  let worst = 0;
  for (let i = begin; i < end; i++) {
    const item = items[i]!;
    const at = Math.floor(((item.u0 - u0) * scale) / column);
    let s = stacks.get(at);
    if (!s) stacks.set(at, (s = { x: at * column, counts: {}, total: 0 }));
    s.counts[item.mark] = (s.counts[item.mark] ?? 0) + 1;
    s.total++;
    if (s.total > worst) worst = s.total;
  }
  if (worst < crowd || end - begin < width / 12) return { crowded: false, stacks: [], single: items.slice(begin, end) };
  const single: Item[] = [];
  let free = -Infinity;
  for (let i = begin; i < end; i++) {
    const item = items[i]!;
    const x = (item.u0 - u0) * scale;
    if (weight[item.mark] < weight.human || (item.mark !== 'evidence' && item.mark !== 'human')) continue;
    if (x - free < 2 * column) continue;
    single.push(item);
    free = x;
  }
  return { crowded: true, stacks: [...stacks.values()], single };
}

function lower(items: Item[], u: number): number {
  let a = 0;
  let b = items.length;
  while (a < b) {
    const m = (a + b) >> 1;
    if (items[m]!.u0 < u) a = m + 1;
    else b = m;
  }
  return a;
}
