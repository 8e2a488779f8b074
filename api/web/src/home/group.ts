import type { Listed } from '../api/answers.ts';

// Group is what one owner has to do.
export interface Group {
  owner: string;
  layer: string;
  allocations: Listed[];
}

const ended = new Set(['released', 'canceled']);

// inTrouble says whether an allocation belongs on the first page. What has ended well is left out, whatever happened before.
function inTrouble(a: Listed): boolean {
  if (a.stuck || a.state === 'failed' || a.state === 'release_failed') return true;
  return a.outcome !== undefined && a.outcome !== 'none' && !ended.has(a.state ?? '');
}

const stuck = (g: Group) => g.allocations.filter((a) => a.stuck).length;

// grouped puts allocations by the owner of their trouble: whoever has something stuck first, then by how much; what nobody owns yet last; in each the longest overdue first.
export function grouped(listed: Listed[]): Group[] {
  const groups = new Map<string, Group>();
  const seen = new Set<string>();
  for (const a of listed) {
    if (seen.has(a.allocation_id) || !inTrouble(a)) continue;
    seen.add(a.allocation_id);
    const layer = a.layer ?? '';
    const owner = a.team || layer || (a.outcome === 'undetermined' ? 'nobody yet: undetermined' : 'no fault found');
    const key = `${owner} ${layer}`;
    const g = groups.get(key) ?? { owner, layer, allocations: [] };
    g.allocations.push(a);
    groups.set(key, g);
  }
  for (const g of groups.values())
    g.allocations.sort(
      (a, b) => (b.overdue_seconds ?? -1) - (a.overdue_seconds ?? -1) || (b.since ?? '').localeCompare(a.since ?? ''),
    );
  return [...groups.values()].sort(
    (a, b) =>
      Number(a.layer === '') - Number(b.layer === '') ||
      stuck(b) - stuck(a) ||
      b.allocations.length - a.allocations.length ||
      (a.owner < b.owner ? -1 : 1),
  );
}
