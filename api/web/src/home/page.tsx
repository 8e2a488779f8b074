import { useAnswer, type Asked } from '../api/use.ts';
import { useStream } from '../api/stream.ts';
import type { Incident, SourceList } from '../api/answers.ts';
import { to } from '../route/route.ts';
import { Refused } from '../shell/refused.tsx';
import { useTitle } from '../shell/title.ts';
import { quoted } from '../text/quoted.ts';
import { Told } from '../text/told.tsx';
import { count, sentence, told, words } from '../text/visible.ts';
import { span } from '../time/time.ts';
import { When } from '../time/when.tsx';
import { grouped, type Group } from './group.ts';

const often = 15_000;
const limit = 500;

// HomePage says what is stuck or failed now, by whose trouble it is: whoever is called should find their own at once.
export function HomePage() {
  useTitle('');
  const stuck = useAnswer('/api/v1/allocations', { query: { stuck: true, limit }, every: often });
  const failed = useAnswer('/api/v1/allocations', { query: { state: 'failed', limit }, every: often });
  const unreleased = useAnswer('/api/v1/allocations', { query: { state: 'release_failed', limit }, every: often });
  const recent = useAnswer('/api/v1/allocations', { query: { limit: 200 }, every: often });
  const incidents = useAnswer('/api/v1/incidents', { every: often });
  const sources = useAnswer('/api/v1/sources', { every: often });
  const drift = useAnswer('/api/v1/drift', { every: often });
  const all = [stuck, failed, unreleased, recent];
  useStream('/api/v1/incidents/events', () => [...all, incidents].forEach((a) => a.again()));
  const listed = all.flatMap((a) => a.answer?.allocations ?? []);
  const groups = grouped(listed);
  const wrong = groups.reduce((n, g) => n + g.allocations.length, 0);
  const open = incidents.answer?.incidents.filter((i) => i.open) ?? [];
  const over = incidents.answer?.incidents.filter((i) => !i.open) ?? [];
  return (
    <>
      <h1 id="stuck">
        {all.some((a) => a.answer)
          ? wrong === 0
            ? 'Nothing is stuck or failed'
            : `${count(wrong, 'allocation')} stuck, failed or in trouble`
          : 'What is stuck or failed'}
        {groups.length > 1 && <span class="sub"> by {groups.length} owners</span>}
      </h1>
      {all.find((a) => a.problem)?.problem && <Refused problem={all.find((a) => a.problem)!.problem!} />}
      <div class="home">
        <div>
          {groups.map((g) => (
            <Owned key={g.owner + g.layer} group={g} />
          ))}
        </div>
        <div class={open.length > 0 ? 'first' : ''}>
          <section class="card" aria-labelledby="incidents">
            <h2 id="incidents" class="kicker">
              Open incidents, one cause each
            </h2>
            {open.length === 0 && <p class="soft">None.</p>}
            {open.map((i) => (
              <Happened key={i.incident_id} incident={i} />
            ))}
            {over.length > 0 && (
              <details>
                <summary>{count(over.length, 'incident')} over</summary>
                {over.slice(0, 20).map((i) => (
                  <Happened key={i.incident_id} incident={i} />
                ))}
              </details>
            )}
          </section>
          <Silent asked={sources} />
          {(drift.answer?.drift.length ?? 0) > 0 && (
            <section class="card" aria-labelledby="drift">
              <h2 id="drift" class="kicker">
                Views that show something else than the truth
              </h2>
              <ul class="plainlist">
                {drift.answer!.drift.slice(0, 12).map((d, i) => (
                  <li key={i}>
                    <a href={to.allocation(d.allocation_id)}>{d.allocation_id}</a> {d.projection} shows {words(d.field)}{' '}
                    <b class="drift">{words(d.shown)} ▲</b>, the truth is {words(d.truth)}{' '}
                    <span class="soft">
                      since <When at={d.since} />
                    </span>
                  </li>
                ))}
              </ul>
            </section>
          )}
        </div>
      </div>
    </>
  );
}

function Owned({ group: g }: { group: Group }) {
  return (
    <section class={`card owned ${g.layer === '' ? 'nobody' : ''}`} aria-label={g.owner}>
      <h2>
        {sentence(g.owner)}{' '}
        <span class="sub">
          {g.layer === '' ? '' : `${words(g.layer)} · `}
          {g.allocations.length}
        </span>
      </h2>
      <ul>
        {g.allocations.slice(0, 25).map((a) => (
          <li key={a.allocation_id}>
            <a href={to.allocation(a.allocation_id)}>
              <bdi>{a.allocation_id}</bdi>
            </a>
            <span class={`state ${a.stuck ? 'stuck' : ''}`}>
              {words(a.state ?? 'state unknown')}
              {a.stuck && <b> · stuck{a.overdue_seconds ? ` ${span(a.overdue_seconds * 1000)}` : ''}</b>}
            </span>
            <span class="why">
              {a.summary ? (
                <Told text={told(quoted(a.summary).what)} />
              ) : (
                <span class="soft">{a.outcome === 'undetermined' ? 'the evidence does not reach' : ''}</span>
              )}
            </span>
            <span class="soft since">{a.since && <When at={a.since} />}</span>
          </li>
        ))}
      </ul>
      {g.allocations.length > 25 && <p class="soft">and {g.allocations.length - 25} more</p>}
    </section>
  );
}

function Happened({ incident: i }: { incident: Incident }) {
  const open = i.victims.filter((v) => v.open).length;
  return (
    <article class="incident">
      <p>
        <a href={to.incident(i.incident_id)}>
          <b>{sentence(words(i.layer))}</b>: <Told text={told(quoted(i.summary).what)} />
        </a>
      </p>
      <p class="soft">
        {count(i.victims.length, 'victim')}
        {i.open && open < i.victims.length ? `, ${open} still hit` : ''} · {i.subject.kind}{' '}
        <Told text={i.subject.ids.slice(0, 3).join(', ')} /> · since <When at={i.first_seen} /> ·{' '}
        {i.owner.team ?? 'nobody named'}
      </p>
    </article>
  );
}

function Silent({ asked }: { asked: Asked<SourceList> }) {
  const all = asked.answer?.sources ?? [];
  const sources = all.filter((s) => !s.alive);
  return (
    <section class="card" aria-labelledby="silent">
      <h2 id="silent" class="kicker">
        Sources that went silent
      </h2>
      {asked.problem && <Refused problem={asked.problem} quiet />}
      {asked.answer && sources.length === 0 && (
        <p class="soft">{all.length === 0 ? 'Nobody has sent anything yet.' : `None of ${all.length}.`}</p>
      )}
      {sources.length > 0 && (
        <ul class="plainlist">
          {sources.slice(0, 12).map((s) => (
            <li key={s.source}>
              <b>{s.source}</b> <span class="soft">{words(s.layer)}</span> for {span(s.silent_seconds * 1000)}
            </li>
          ))}
          {sources.length > 12 && (
            <li>
              <a href={to.sources()}>all {sources.length}</a>
            </li>
          )}
        </ul>
      )}
    </section>
  );
}
