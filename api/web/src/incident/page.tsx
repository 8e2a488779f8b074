import type { Incident } from '../api/answers.ts';
import { useAnswer } from '../api/use.ts';
import { to } from '../route/route.ts';
import { Refused } from '../shell/refused.tsx';
import { useTitle } from '../shell/title.ts';
import { quoted } from '../text/quoted.ts';
import { Told } from '../text/told.tsx';
import { count, sentence, told, words } from '../text/visible.ts';
import { span } from '../time/time.ts';
import { millis } from '../time/time.ts';
import { When } from '../time/when.tsx';

// IncidentPage shows one cause and everybody whom it hit.
export function IncidentPage({ id }: { id: string }) {
  const { answer, problem } = useAnswer('/api/v1/incidents', { every: 15_000 });
  const found = answer?.incidents.find((i) => i.incident_id === id);
  useTitle(found ? `${words(found.layer)}: ${quoted(found.summary).what}` : 'Incident');
  if (found) return <Whole incident={found} />;
  return (
    <>
      <h1>Incident {id}</h1>
      {problem && <Refused problem={problem} />}
      {answer ? (
        <p>
          No incident has this identifier: it may have become part of another.{' '}
          <a href="/ui/#incidents">All incidents</a>
        </p>
      ) : (
        !problem && <p role="status">Reading…</p>
      )}
    </>
  );
}

function Whole({ incident: i }: { incident: Incident }) {
  const q = quoted(i.summary);
  const subject = i.subject.ids;
  return (
    <>
      <h1>
        Incident: {words(i.layer)}, {words(i.mechanism)}{' '}
        <span class="sub">
          {i.open ? 'open' : 'over'} · {count(i.victims.length, 'victim')} · <When at={i.first_seen} />–
          {i.open ? 'now' : <When at={i.last_seen} />}
        </span>
      </h1>
      <section class={`card verdict ${i.contested ? 'contested' : 'attributed'}`} aria-labelledby="cause">
        <h2 id="cause" class="kicker">
          The cause{i.contested && ', contested'}
        </h2>
        <p class="owner">
          <b class="layer">{sentence(words(i.layer))}</b> {i.contested ? 'may own it' : 'owns it'}:{' '}
          <b class="what">{<Told text={told(q.what)} />}</b>.
        </p>
        {q.quote && (
          <blockquote>
            <span class="soft">{q.source} said</span> <Told text={q.quote} />
          </blockquote>
        )}
        <dl class="next">
          <div>
            <dt>Next check</dt>
            <dd>
              <Told text={sentence(i.next_check)} />
            </dd>
          </div>
          <div>
            <dt>Safe action</dt>
            <dd>
              <Told text={sentence(i.safe_action)} />
            </dd>
          </div>
        </dl>
        <p class="chips">
          {i.owner.team && (
            <span class="chip team">
              <span class="soft">call</span> {[i.owner.team, i.owner.contact].filter(Boolean).join(' · ')}
            </span>
          )}
          <span class={`chip confidence ${i.confidence}`}>{i.confidence} confidence</span>
          <a class="chip" href={to.rules(i.rule)}>
            {i.rule}
          </a>
          <span class="chip">
            {i.subject.kind}:{' '}
            {subject.slice(0, 6).map((s, n) => (
              <span key={s}>
                {n > 0 && ', '}
                {i.subject.kind === 'node' ? <a href={to.node(s)}>{s}</a> : <Told text={s} />}
              </span>
            ))}
            {subject.length > 6 && ` and ${subject.length - 6} more`}
          </span>
        </p>
      </section>
      <section class="card" aria-labelledby="victims">
        <h2 id="victims" class="kicker">
          Victims
        </h2>
        <div class="scroll" tabIndex={0} role="region" aria-label="Table of victims">
          <table>
            <thead>
              <tr>
                <th scope="col">Allocation</th>
                <th scope="col">State</th>
                <th scope="col">Hit at</th>
                <th scope="col">Over at</th>
                <th scope="col">After the first</th>
                <th scope="col">Evidence</th>
              </tr>
            </thead>
            <tbody>
              {i.victims.slice(0, 500).map((v) => (
                <tr key={v.allocation_id + v.onset}>
                  <th scope="row">
                    <a href={to.allocation(v.allocation_id)}>{v.allocation_id}</a>
                  </th>
                  <td>{words(v.state ?? 'unknown')}</td>
                  <td>
                    <When at={v.onset} />
                  </td>
                  <td>{v.cleared_at ? <When at={v.cleared_at} /> : v.open ? <b>still hit</b> : 'not tried again'}</td>
                  <td>{span(Math.max(0, millis(v.onset) - millis(i.first_seen)))}</td>
                  <td>
                    {v.evidence[0] ? (
                      <a href={to.allocation(v.allocation_id, v.evidence[0])}>◆ {count(v.evidence.length, 'record')}</a>
                    ) : (
                      '–'
                    )}
                    {v.contested && ' · contested'}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </section>
    </>
  );
}
