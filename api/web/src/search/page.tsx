import { useEffect, useState } from 'preact/hooks';
import { useAnswer } from '../api/use.ts';
import { Drawer } from '../records/drawer.tsx';
import { More, usePages } from '../records/pages.tsx';
import { rowOfRecord } from '../records/row.ts';
import { Table } from '../records/table.tsx';
import { place, put, to } from '../route/route.ts';
import { Refused } from '../shell/refused.tsx';
import { useTitle } from '../shell/title.ts';
import { Told } from '../text/told.tsx';
import { words } from '../text/visible.ts';
import { When } from '../time/when.tsx';

const tailEvery = 2000;
const severities = ['', 'warn', 'error', 'fatal'] as const;

// SearchPage lists what an identifier belongs to, or what is like it, and the records that say the words; newest first.
export function SearchPage() {
  const q = place.value.query;
  const text = q.get('q') ?? '';
  const severity = q.get('severity') ?? '';
  const layer = q.get('layer') ?? '';
  const service = q.get('service') ?? '';
  const tail = q.has('tail');
  useTitle(text === '' ? 'Records' : text);
  const found = usePages('/api/v1/search', {
    query: { text, severity, layer, service: service ? [service] : [], limit: 200 },
    every: tail ? tailEvery : undefined,
  });
  const layers = useAnswer('/api/v1/layers');
  const events = found.events;
  const ref = q.get('ref');
  const selected = events.findIndex((e) => e.ref === ref);
  const chosen = events[selected];
  return (
    <div class={chosen ? 'with-drawer' : ''}>
      <h1>Records</h1>
      <form class="filters" onSubmit={(e) => e.preventDefault()}>
        <Words key={text} text={text} />
        <label>
          At least
          <select value={severity} onChange={(e) => put({ severity: e.currentTarget.value })}>
            {severities.map((s) => (
              <option key={s} value={s}>
                {s === '' ? 'any severity' : s}
              </option>
            ))}
          </select>
        </label>
        <label>
          Layer
          <select value={layer} onChange={(e) => put({ layer: e.currentTarget.value })}>
            <option value="">any</option>
            {(layers.answer?.layers ?? []).map((l) => (
              <option key={l.layer} value={l.layer}>
                {words(l.layer)}
              </option>
            ))}
          </select>
        </label>
        <label>
          Source
          <input value={service} onChange={(e) => put({ service: e.currentTarget.value })} />
        </label>
        <button type="button" aria-pressed={tail} onClick={() => put({ tail: tail ? null : '1' })}>
          {tail ? '● Live' : '○ Live'}
        </button>
      </form>
      {text !== '' && !/\s/.test(text) && <Known id={text} />}
      {found.problem && <Refused problem={found.problem} />}
      <h2 class="kicker" aria-live="polite">
        {found.first.answer
          ? events.length === 0
            ? 'No record says that'
            : `${events.length}${found.more ? ' and more' : ''} records, the newest first`
          : 'Searching…'}
      </h2>
      {events.length > 0 && (
        <Table
          rows={events.map(rowOfRecord)}
          selected={selected < 0 ? null : selected}
          select={(n) => put({ ref: events[n]!.ref })}
          label="Records found"
          lines={22}
        />
      )}
      <More pages={found} />
      {chosen && (
        <Drawer
          entry={chosen}
          mark={rowOfRecord(chosen).mark}
          raw={chosen}
          problem={undefined}
          close={() => put({ ref: null })}
        />
      )}
    </div>
  );
}

function Words({ text }: { text: string }) {
  const [typed, setTyped] = useState(text);
  useEffect(() => {
    if (typed === text) return;
    const timer = setTimeout(() => put({ q: typed, ref: null }), 400);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <label class="wide">
      Words, all of them
      <input value={typed} onInput={(e) => setTyped(e.currentTarget.value)} />
    </label>
  );
}

// Known says what an identifier leads to; of one that nobody knows, the allocations that look like it.
function Known({ id }: { id: string }) {
  const known = useAnswer('/api/v1/lookup/{id}', { path: { id } });
  const unknown = known.problem?.status === 404;
  const near = useAnswer('/api/v1/allocations', { query: { text: id, limit: 10 }, unless: !unknown });
  if (unknown)
    return (
      <section class="card">
        <h2 class="kicker">Nothing is known as {id}</h2>
        {near.answer && near.answer.allocations.length > 0 ? (
          <ul class="plainlist">
            {near.answer.allocations.map((a) => (
              <li key={a.allocation_id}>
                <a href={to.allocation(a.allocation_id)}>{a.allocation_id}</a>{' '}
                <span class="soft">{words(a.state ?? '')}</span> <Told text={a.summary ?? ''} />
              </li>
            ))}
          </ul>
        ) : (
          <p class="soft">No allocation is like it, either. What records say is searched below.</p>
        )}
      </section>
    );
  const k = known.answer;
  if (!k || k.id !== id) return null;
  const silent = k.layers.filter((l) => l.silent && l.last_heard !== null);
  return (
    <section class="card">
      <h2 class="kicker">
        {id}: {k.kinds.map(words).join(', ')}
      </h2>
      <ul class="plainlist">
        {k.allocations.map((a) => (
          <li key={a.allocation_id}>
            <a href={to.allocation(a.allocation_id)}>{a.allocation_id}</a> {words(a.state ?? 'state unknown')}{' '}
            <span class="soft">
              <When at={a.first_seen} />–<When at={a.last_seen} />
            </span>
          </li>
        ))}
        {k.nodes.slice(0, 20).map((n) => (
          <li key={n}>
            node <a href={to.node(n)}>{n}</a>
          </li>
        ))}
      </ul>
      {k.last_heard && (
        <p>
          Last heard of <When at={k.last_heard.time} /> by {k.last_heard.source}: <Told text={k.last_heard.summary} />
        </p>
      )}
      {silent.length > 0 && <p class="soft">Silent now: {silent.map((l) => words(l.layer)).join(', ')}</p>}
    </section>
  );
}
