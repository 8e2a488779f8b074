import { useState } from 'preact/hooks';
import { useAnswer } from '../api/use.ts';
import { Refused } from '../shell/refused.tsx';
import { Told } from '../text/told.tsx';
import { clock, millis } from '../time/time.ts';

// Lines shows, when asked, the raw lines that the source of a record wrote shortly before and after it.
export function Lines({ allocation, at }: { allocation: string; at: string }) {
  const [wanted, want] = useState(false);
  const { answer, problem } = useAnswer('/api/v1/allocations/{id}/lines/{ref}', {
    path: { id: allocation, ref: at },
    unless: !wanted,
  });
  if (!wanted)
    return (
      <p>
        <button type="button" onClick={() => want(true)}>
          Raw lines around it
        </button>
      </p>
    );
  if (problem) return <Refused problem={problem} quiet={problem.status === 501} />;
  if (!answer) return <p role="status">Reading…</p>;
  return (
    <section>
      <h3>
        {answer.source}, {clock(millis(answer.from), 0)} to {clock(millis(answer.to), 0)} UTC
      </h3>
      {answer.lines.length === 0 && <p class="soft">No line of it carries this allocation.</p>}
      <pre tabIndex={0}>
        {answer.lines.map((l, i) => (
          <div key={i}>
            <span class="soft">{clock(millis(l.time), 3)}</span> <Told text={l.line} lines />
          </div>
        ))}
      </pre>
      {answer.bounded && <p class="soft">and more</p>}
    </section>
  );
}
