import type { Allocation, Problem, States } from '../api/answers.ts';
import { Told } from '../text/told.tsx';
import { words } from '../text/visible.ts';
import { When } from '../time/when.tsx';

export interface StatesProps {
  allocation: Allocation;
  states: States | undefined;
  problem: Problem | undefined;
  show(ref: string): void;
}

// FourStates puts beside each other what is wanted, what is being done, what is, and what views show.
export function FourStates({ allocation: a, states: s, problem, show }: StatesProps) {
  const skews = a.verdict.findings.filter((f) => /clock|skew/.test(f.kind ?? ''));
  return (
    <section class="card four" aria-labelledby="four">
      <h2 id="four" class="kicker">
        Four states
      </h2>
      {!s && problem && (
        <dl class="rows">
          <Line name="state" value={words(a.state ?? 'unknown')} since={a.since} />
        </dl>
      )}
      {s && (
        <dl class="rows">
          <Line
            name="desired"
            value={s.desired?.value ?? 'nobody said'}
            since={s.desired?.since}
            note={s.desired ? `by ${s.desired.by}` : ''}
            at={s.desired?.ref}
            show={show}
          />
          {s.execution.length === 0 && <Line name="execution" value="nothing runs" />}
          {s.execution.map((x) => (
            <Line
              key={x.kind}
              name={`execution · ${words(x.kind)}`}
              value={words(x.value)}
              note={[x.operation, x.id].filter(Boolean).join(' ')}
              since={x.since}
              at={x.ref}
              show={show}
            />
          ))}
          {s.observed.map((x) => (
            <Line
              key={x.kind + x.id}
              name={`observed · ${words(x.kind)}`}
              value={words(x.value)}
              note={x.kind === 'allocation' ? '' : x.id}
              since={x.since}
              at={x.ref}
              show={show}
            />
          ))}
          {s.projected.map((x) => (
            <Line
              key={x.projection + x.field}
              name={`shown · ${x.projection} ${words(x.field)}`}
              value={words(x.value)}
              since={x.as_of ?? x.seen}
              at={x.ref}
              drift={x.drift}
              show={show}
            />
          ))}
        </dl>
      )}
      {a.verdict.drift.map((d, i) => (
        <p key={i} class="drift">
          ▲ Drift: {d.projection} shows {words(d.field ?? '')} <Told text={d.shown ?? ''} />, the truth is{' '}
          <Told text={d.truth ?? ''} />
          {d.since && (
            <>
              {' '}
              since <When at={d.since} />
            </>
          )}
          .
        </p>
      ))}
      {skews.map((f, i) => (
        <p key={i} class="soft">
          Clocks: <Told text={f.summary ?? ''} />. Times stay as stamped.
        </p>
      ))}
    </section>
  );
}

interface LineProps {
  name: string;
  value: string;
  note?: string;
  since?: string | null;
  at?: string;
  drift?: boolean;
  show?(ref: string): void;
}

function Line({ name, value, note, since, at, drift, show }: LineProps) {
  const text = (
    <>
      <b class={drift ? 'drift' : ''}>
        <Told text={value} />
        {drift && ' ▲'}
      </b>{' '}
      {note && (
        <span class="soft note">
          <Told text={note} />
        </span>
      )}
    </>
  );
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {at && show ? (
          <button type="button" class="plain" onClick={() => show(at)}>
            {text}
          </button>
        ) : (
          text
        )}{' '}
        {since && (
          <span class="soft">
            <When at={since} />
          </span>
        )}
      </dd>
    </div>
  );
}
