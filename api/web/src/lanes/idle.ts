// Time in which nothing happened is collapsed: an allocation that was active for six hours is about its last ten minutes.

export interface Idle {
  from: number;
  to: number;
}

const share = 0.25; // of what is left: a smaller pause still says something by its length
const least = 60_000; // ms
const most = 12;

// idle finds the pauses between times (sorted), the longest first, until none stands out any more.
export function idle(times: number[]): Idle[] {
  const pauses: Idle[] = [];
  for (let i = 1; i < times.length; i++) {
    if (times[i]! - times[i - 1]! >= least) pauses.push({ from: times[i - 1]!, to: times[i]! });
  }
  pauses.sort((a, b) => b.to - b.from - (a.to - a.from));
  let left = times.length > 0 ? times.at(-1)! - times[0]! : 0;
  const out: Idle[] = [];
  for (const pause of pauses) {
    const long = pause.to - pause.from;
    if (out.length === most || long <= share * left) break;
    out.push(pause);
    left -= long;
  }
  return out.sort((a, b) => a.from - b.from);
}
