import type { Revision } from '../api/answers.ts';
import { put } from '../route/route.ts';
import { Told } from '../text/told.tsx';
import { millis } from '../time/time.ts';
import { When } from '../time/when.tsx';

// Replay goes through what was said of the allocation, each time that it changed. Its last place is now.
export function Replay({ revisions, asOf }: { revisions: Revision[]; asOf: string | null }) {
  if (revisions.length < 2) return null;
  const last = revisions.length;
  const at = asOf === null ? last : revisions.findLastIndex((r) => millis(r.judged_at) <= millis(asOf));
  const r = revisions[at];
  const go = (n: number) => put({ as_of: n >= last ? null : revisions[Math.max(0, n)]!.judged_at });
  return (
    <div class="replay">
      <label for="replay">What was said, as it changed</label>
      <button type="button" class="plain" onClick={() => go(at - 1)} disabled={at <= 0} aria-label="The change before">
        ◀
      </button>
      <input
        id="replay"
        type="range"
        min={0}
        max={last}
        step={1}
        value={Math.max(0, at)}
        aria-valuetext={r ? `as of ${r.judged_at}: ${r.differs.join(', ')}` : 'now'}
        onInput={(e) => go(Number(e.currentTarget.value))}
      />
      <button type="button" class="plain" onClick={() => go(at + 1)} disabled={at >= last} aria-label="The next change">
        ▶
      </button>
      <output for="replay">
        {r ? (
          <>
            as of <When at={r.judged_at} digits={3} />{' '}
            <span class="soft">
              ({at + 1} of {last})
            </span>{' '}
            <Told text={r.differs.join(' · ') || 'first heard of'} />
          </>
        ) : (
          <>
            <b>now</b> <span class="soft">({last} changes)</span>
          </>
        )}
      </output>
      {asOf !== null && (
        <button type="button" onClick={() => put({ as_of: null })}>
          back to now
        </button>
      )}
    </div>
  );
}
