// Times of the API are RFC 3339 with up to nine digits; here they are milliseconds since 1970 with their fraction.

export function millis(text: string): number {
  const dot = text.indexOf('.', 19);
  if (dot < 0) return Date.parse(text);
  const fraction = /^\.\d+/.exec(text.slice(dot))![0];
  return Date.parse(text.slice(0, dot) + text.slice(dot + fraction.length)) + Number(fraction) * 1000;
}

const two = (n: number) => String(n).padStart(2, '0');

// clock gives the time of day in UTC, with so many digits of the second.
export function clock(ms: number, digits = 0): string {
  const d = new Date(ms);
  const whole = `${two(d.getUTCHours())}:${two(d.getUTCMinutes())}:${two(d.getUTCSeconds())}`;
  return digits === 0 ? whole : `${whole}.${String(d.getUTCMilliseconds()).padStart(3, '0').slice(0, digits)}`;
}

export function day(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

export function full(ms: number): string {
  return `${day(ms)} ${clock(ms, 3)} UTC`;
}

// shortest leaves out the day where it is the day of what stands beside it.
export function shortest(ms: number, beside: number): string {
  return day(ms) === day(beside) ? clock(ms) : `${day(ms)} ${clock(ms)}`;
}

const units: [string, number][] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
];

// span says how long something took in its two greatest units: "6 h 12 m", "2.3 s", "140 ms".
export function span(ms: number): string {
  const long = Math.abs(ms);
  if (long === 0) return '0 s';
  if (long < 1) return `${Math.round(long * 1000)} µs`;
  if (long < 1000) return `${Math.round(long)} ms`;
  if (long < 10_000) return `${(long / 1000).toFixed(1).replace(/\.0$/, '')} s`;
  const i = units.findIndex(([, size]) => long >= size);
  const [unit, size] = units[i]!;
  const whole = Math.floor(long / size);
  const next = units[i + 1];
  const rest = next ? Math.floor((long - whole * size) / next[1]) : 0;
  return next && rest > 0 ? `${whole} ${unit} ${rest} ${next[0]}` : `${whole} ${unit}`;
}

export function ago(ms: number, now: number): string {
  const since = now - ms;
  if (Math.abs(since) < 1000) return 'now';
  return since < 0 ? `in ${span(since)}` : `${span(since)} ago`;
}

const sizes: Record<string, number> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1, µs: 0.001, us: 0.001, ns: 0.000001 };
const goDuration = /(?:^|\s)((?:\d+(?:\.\d+)?(?:h|ms|m|s|µs|us|ns))+)(?=\s|$)/;

// took reads the duration out of a span's summary ("claim 2.28ms (…)"), because entries carry no end; 0 without one.
export function took(summary: string): number {
  const found = goDuration.exec(summary.replace(/\s\(.*$/s, ''));
  if (!found) return 0;
  let sum = 0;
  for (const [, number, unit] of found[1]!.matchAll(/(\d+(?:\.\d+)?)(h|ms|m|s|µs|us|ns)/g))
    sum += Number(number) * sizes[unit!]!;
  return sum;
}
