import type { FullEvent, Node } from '../api/answers.ts';
import { useAnswer } from '../api/use.ts';
import { Drawer } from '../records/drawer.tsx';
import { More, usePages } from '../records/pages.tsx';
import { rowOfRecord } from '../records/row.ts';
import { Table } from '../records/table.tsx';
import { place, put, to } from '../route/route.ts';
import { Refused } from '../shell/refused.tsx';
import { useTitle } from '../shell/title.ts';
import { count, oneLine, words } from '../text/visible.ts';
import { now } from '../time/setting.ts';
import { clock, day, millis, span } from '../time/time.ts';
import { When } from '../time/when.tsx';

// NodePage shows a machine over its installations: who held it when, and what is known of those that are gone.
export function NodePage({ id }: { id: string }) {
  useTitle(`node ${id}`);
  const { answer: n, problem } = useAnswer('/api/v1/nodes/{id}', { path: { id }, every: 15_000 });
  const records = usePages('/api/v1/nodes/{id}/timeline', { path: { id }, query: { limit: 1000 } });
  const events = records.events;
  const ref = place.value.query.get('ref');
  const selected = events.findIndex((e) => e.ref === ref);
  const chosen = events[selected];
  if (!n)
    return (
      <>
        <h1>Node {oneLine(id)}</h1>
        {problem ? <Refused problem={problem} /> : <p role="status">Reading…</p>}
      </>
    );
  return (
    <div class={chosen ? 'with-drawer' : ''}>
      <h1>
        Node <bdi>{oneLine(id)}</bdi>{' '}
        <span class="sub">
          {n.occupancy ? words(n.occupancy) : 'occupancy unknown'}
          {n.occupancy_since && (
            <>
              {' '}
              since <When at={n.occupancy_since} />
            </>
          )}
          {n.last_heard && (
            <>
              {' '}
              · last heard of <When at={n.last_heard} />
            </>
          )}
        </span>
      </h1>
      <p>
        {n.allocation_id ? (
          <>
            Held by <a href={to.allocation(n.allocation_id)}>{n.allocation_id}</a>.
          </>
        ) : (
          'Nobody holds it.'
        )}
      </p>
      {n.drift.map((d) => (
        <p key={d.projection}>
          <b class="drift">drift</b> The {oneLine(d.projection)} view shows it as {words(d.shown)}; it has been{' '}
          {words(d.truth)} since <When at={d.since} />.
        </p>
      ))}
      <Life node={n} events={events} />
      <h2 class="kicker">Its records, over all installations{records.more ? ` (the first ${events.length})` : ''}</h2>
      {records.problem && <Refused problem={records.problem} />}
      {events.length > 0 && (
        <Table
          rows={events.map(rowOfRecord)}
          selected={selected < 0 ? null : selected}
          select={(i) => put({ ref: events[i]!.ref })}
          label={`Records of node ${id}`}
          lines={16}
        />
      )}
      <More pages={records} />
      {chosen && (
        <Drawer
          entry={chosen}
          mark={rowOfRecord(chosen).mark}
          note={outlived(chosen, n)}
          raw={chosen}
          problem={undefined}
          close={() => put({ ref: null })}
        />
      )}
    </div>
  );
}

function outlived(e: FullEvent, n: Node): string | undefined {
  const gone = n.instances.find((i) => i.node_instance_id === e.ids['node_instance_id'] && i.to !== null);
  return gone ? `It outlived the installation that it is of, ${gone.node_instance_id}.` : undefined;
}

interface Stretch {
  name: string;
  from: string | null;
  to: string | null;
  note: string;
  href?: string;
}

// Life draws installations and holders as bars on one axis; the list beside each bar says the same in words.
function Life({ node: n, events }: { node: Node; events: FullEvent[] }) {
  const times = [...n.instances, ...n.assignments]
    .flatMap((x) => [x.from, x.to])
    .filter((t) => t !== null)
    .map(millis);
  const heard = n.last_heard ? millis(n.last_heard) : now.value;
  const from = Math.min(heard, ...times);
  const end = Math.max(heard, ...times);
  const instances = n.instances.map((i) => {
    const kept = events.filter((e) => e.ids['node_instance_id'] === i.node_instance_id).length;
    return {
      name: i.node_instance_id,
      from: i.from,
      to: i.to,
      note: i.to === null ? 'live' : `gone; ${count(kept, 'record')} outlived it`,
    };
  });
  const held = n.assignments.map((a) => ({
    name: a.allocation_id,
    from: a.from,
    to: a.to,
    note: a.to === null ? 'holds it' : '',
    href: to.allocation(a.allocation_id),
  }));
  return (
    <section class="card life" aria-label="Installations and who held the node">
      <div class="scale soft" aria-hidden="true">
        <span>
          {day(from)} {clock(from)}
        </span>
        <span>
          {day(end)} {clock(end)} UTC
        </span>
      </div>
      <Bars title="Installations" list={instances} from={from} end={end} kind="instance" />
      <Bars title="Held by" list={held} from={from} end={end} kind="holder" />
    </section>
  );
}

function Bars({
  title,
  list,
  from,
  end,
  kind,
}: {
  title: string;
  list: Stretch[];
  from: number;
  end: number;
  kind: string;
}) {
  const place = (t: string | null, otherwise: number) =>
    (((t === null ? otherwise : millis(t)) - from) / Math.max(1, end - from)) * 100;
  return (
    <>
      <h2 class="kicker">{title}</h2>
      {list.length === 0 && <p class="soft">No record says.</p>}
      <ol class="bars">
        {list.slice(-40).map((b, i) => {
          const left = place(b.from, from);
          const long = (b.to === null ? end : millis(b.to)) - (b.from === null ? from : millis(b.from));
          return (
            <li key={i}>
              <span class="name">{b.href ? <a href={b.href}>{b.name}</a> : b.name}</span>
              <span class="track">
                <span
                  class={`stretch ${kind} ${b.to === null ? 'open' : ''}`}
                  style={{ left: `${left}%`, width: `${Math.max(0.4, place(b.to, end) - left)}%` }}
                />
              </span>
              <span class="soft">
                {b.from ? <When at={b.from} /> : 'unknown'}–{b.to ? <When at={b.to} /> : 'now'} · {span(long)}
                {b.note && ` · ${b.note}`}
              </span>
            </li>
          );
        })}
      </ol>
    </>
  );
}
