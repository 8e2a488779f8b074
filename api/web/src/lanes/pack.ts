import type { Item } from './scene.ts';

const rows = 3; // beyond it bars lie over each other: a lane that fills the screen hides the next

// packed puts bars into rows so that they do not cover each other, and says how many it took.
export function packed(bars: Item[]): number {
  bars.sort((a, b) => a.u0 - b.u0 || b.u1 - a.u1);
  const ends: number[] = [];
  for (const bar of bars) {
    let free = ends.findIndex((end) => end <= bar.u0);
    if (free < 0) free = ends.length < rows ? ends.length : ends.indexOf(Math.min(...ends));
    bar.row = free;
    ends[free] = Math.max(ends[free] ?? 0, bar.u1);
  }
  return ends.length;
}
