import { useState } from 'preact/hooks';
import type { Considered } from '../api/answers.ts';
import { useAnswer } from '../api/use.ts';
import { Refused } from '../shell/refused.tsx';
import { Told } from '../text/told.tsx';
import { sentence, words } from '../text/visible.ts';

// Reasons tells what else was considered and why it was dropped; it is worked out when somebody asks.
export function Reasons({ id, asOf, show }: { id: string; asOf: string | null; show(ref: string): void }) {
  const [opened, setOpened] = useState(false);
  const { answer, problem } = useAnswer('/api/v1/allocations/{id}/reasoning', {
    path: { id },
    query: { as_of: asOf },
    unless: !opened,
  });
  return (
    <details class="reasons" onToggle={(e) => setOpened(e.currentTarget.open)}>
      <summary>What was considered, and why it was dropped</summary>
      {problem && <Refused problem={problem} />}
      {opened && !answer && !problem && <p class="soft">It is being worked out…</p>}
      {answer?.reasoning.troubles.length === 0 && (
        <p class="soft">Nothing was owed and missing, so nothing had to be weighed.</p>
      )}
      {answer?.reasoning.troubles.slice(0, 8).map((t, i) => (
        <article key={i}>
          <p>
            <b>{words(t.ruling)}</b>: <Told text={t.trouble} />
            {t.because && (
              <>
                . <Told text={sentence(t.because)} />
              </>
            )}
          </p>
          <ul>
            {t.considered.slice(0, 8).map((c, j) => (
              <Weighed key={j} considered={c} show={show} />
            ))}
          </ul>
        </article>
      ))}
    </details>
  );
}

function Weighed({ considered: c, show }: { considered: Considered; show(ref: string): void }) {
  return (
    <li class={c.kept ? 'kept' : 'dropped'}>
      <span aria-hidden="true">{c.kept ? '◆' : '–'}</span> {c.kept ? 'kept' : 'dropped'} <b>{c.rule}</b> (
      {words(c.layer)}, {words(c.weight)}, {words(c.directness)}): <Told text={c.because || c.summary} />{' '}
      {c.evidence[0] && (
        <button
          type="button"
          class="plain"
          onClick={() => show(c.evidence[0]!)}
          aria-label={`Show the evidence of ${c.rule}`}
        >
          show
        </button>
      )}
    </li>
  );
}
