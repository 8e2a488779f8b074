import type { Allocation, Stuck } from '../api/answers.ts';
import { words } from '../text/visible.ts';
import { millis, shortest, span } from '../time/time.ts';
import { passages } from './passage.ts';

const tone: Record<string, string> = {
  active: 'good',
  released: 'good',
  failed: 'wrong',
  release_failed: 'wrong',
  canceled: 'quiet',
  degraded: 'wrong',
};

// StateBar shows the states that the allocation came through. Their widths grow with their lengths, but slower: six hours of
// peace must leave room for ten minutes of trouble.
export function StateBar({ allocation: a, stuck, end }: { allocation: Allocation; stuck: Stuck | null; end: number }) {
  const all = passages(a.timeline, end);
  if (all.length === 0 && a.state && a.since) all.push({ state: a.state, from: millis(a.since), to: end });
  if (all.length === 0) return <p class="soft">No record says in which state the allocation is.</p>;
  return (
    <ol class="states" aria-label="States that it came through">
      {all.map((p, i) => {
        const last = i === all.length - 1;
        const long = span(p.to - p.from);
        const over = last && stuck ? millis(stuck.deadline) : NaN;
        return (
          <li
            key={p.from}
            class={tone[p.state] ?? 'moving'}
            style={{ flexGrow: String(1 + Math.log2(1 + (p.to - p.from) / 1000)) }}
            title={`${words(p.state)} since ${shortest(p.from, end)}, ${last ? 'for' : 'took'} ${long}`}
          >
            <b>{words(p.state)}</b> <span>{long}</span>
            {Number.isFinite(over) && (
              <span class="over">
                {' '}
                · {over < end ? `${span(end - over)} over its budget` : `budget ends in ${span(over - end)}`}
              </span>
            )}
          </li>
        );
      })}
    </ol>
  );
}
