import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { signal } from '@preact/signals';
import type { Allocation } from '../api/answers.ts';
import { address } from '../api/client.ts';
import { liveness, useStream } from '../api/stream.ts';
import { useAnswer } from '../api/use.ts';
import { cited, markOf } from '../lanes/mark.ts';
import { clamped, moved, zoomed } from '../lanes/grip.ts';
import { Lanes } from '../lanes/lanes.tsx';
import { scene } from '../lanes/scene.ts';
import type { View } from '../lanes/draw.ts';
import { Drawer } from '../records/drawer.tsx';
import { rowOf } from '../records/row.ts';
import { Table } from '../records/table.tsx';
import { place, put, to } from '../route/route.ts';
import { useKeys } from '../shell/keys.tsx';
import { Refused } from '../shell/refused.tsx';
import { useTitle } from '../shell/title.ts';
import { oneLine, words } from '../text/visible.ts';
import { clock, millis } from '../time/time.ts';
import { FourStates } from './states.tsx';
import { Legend } from './legend.tsx';
import { markdown } from './markdown.ts';
import { Recovery } from './recovery.tsx';
import { Replay } from './replay.tsx';
import { StateBar } from './statebar.tsx';
import { VerdictCard } from './verdict.tsx';

// AllocationPage is what an operator opens at three in the morning: whose it is, why, what next, and below it what proves it.
export function AllocationPage({ id }: { id: string }) {
  const asOf = place.value.query.get('as_of');
  const { answer, problem, again } = useAnswer('/api/v1/allocations/{id}', { path: { id }, query: { as_of: asOf } });
  useStream(asOf === null ? address('/api/v1/allocations/{id}/events', { path: { id } }) : null, again);
  useTitle(answer ? `${id} ${words(answer.state ?? '')}` : id);
  if (!answer)
    return problem ? (
      <>
        <h1>{oneLine(id)}</h1>
        <Refused problem={problem} />
        {problem.status === 404 && (
          <p>
            <a href={to.search(id)}>Search for it</a>
          </p>
        )}
      </>
    ) : (
      <p class="soft" role="status">
        Reading {oneLine(id)}…
      </p>
    );
  return (
    <>
      {problem && <Refused problem={problem} />}
      <Whole key={id} allocation={answer} asOf={asOf} again={again} />
    </>
  );
}

// useEnd is the time that the page shows: as of which the allocation was judged, and what has passed since the answer came. The
// server's clock decides, and the last state goes on.
function useEnd(a: Allocation, live: boolean): number {
  const arrived = useMemo(() => Date.now(), [a]);
  const [, tick] = useState(0);
  useEffect(() => {
    if (!live) return;
    const timer = setInterval(() => tick((n) => n + 1), 5000);
    return () => clearInterval(timer);
  }, [live]);
  return millis(a.verdict.as_of) + (live ? Date.now() - arrived : 0);
}

function Whole({ allocation: a, asOf, again }: { allocation: Allocation; asOf: string | null; again(): void }) {
  const id = a.allocation_id;
  const query = place.value.query;
  const evidenceOnly = query.has('evidence');
  const hideSymptoms = query.has('nosymptoms');
  const tableShown = !query.has('notable');
  const [recovering, setRecovering] = useState(false);
  const [said, say] = useState('');

  const round = `${a.verdict.as_of} ${a.timeline.length}`;
  const known = useAnswer('/api/v1/layers', { every: 60_000 });
  const history = useAnswer('/api/v1/allocations/{id}/history', { path: { id }, query: { limit: 100 }, round });
  const states = useAnswer('/api/v1/allocations/{id}/states', { path: { id }, query: { as_of: asOf }, round });
  const handoffs = states.answer?.handoffs;

  const order = known.answer?.layers.map((l) => l.layer) ?? usual;
  const shown = useMemo(() => {
    const owners = new Map(known.answer?.layers.map((l) => [l.layer, l.owner.team ?? '']) ?? []);
    return scene(a, order, owners, handoffs ?? [], { evidenceOnly, hideSymptoms });
  }, [a, order.join(), handoffs, evidenceOnly, hideSymptoms]);

  const view = useView(shown.axis);
  const marks = useMemo(() => cited(a.verdict), [a]);
  const rows = useMemo(() => {
    const kept = new Set(shown.order);
    return a.timeline
      .map((e, index) => ({ index, row: rowOf(e, markOf(e, marks)), gap: e.kind === 'gap' }))
      .filter((r) => kept.has(r.index) || (r.gap && !evidenceOnly));
  }, [a, shown]);

  const ref = query.get('ref');
  const found = ref === null ? -1 : a.timeline.findIndex((e) => e.ref === ref);
  const selected = found < 0 ? null : found;
  const entry = selected === null ? undefined : a.timeline[selected];
  const select = (index: number | null) => {
    const e = index === null ? undefined : a.timeline[index];
    put({ ref: e?.ref || null });
    if (!e) return;
    say(`${clock(millis(e.time), 3)}, ${words(e.layer)}, ${markOf(e, marks)}: ${oneLine(e.summary).slice(0, 200)}`);
    const u = shown.axis.at(millis(e.time));
    const v = view.peek();
    if (u < v.u0 || u > v.u1) view.value = moved(v, u - (v.u0 + v.u1) / 2);
  };
  const show = (wanted: string) => {
    const index = a.timeline.findIndex((e) => e.ref === wanted);
    if (index >= 0) select(index);
    else put({ ref: wanted });
  };
  const step = (by: number) => {
    if (shown.order.length === 0) return;
    const at = selected === null ? (by > 0 ? -1 : shown.order.length) : shown.order.indexOf(selected);
    select(shown.order[Math.max(0, Math.min(shown.order.length - 1, at + by))]!);
  };
  const flip = (name: string, on: boolean) => put({ [name]: on ? null : '1' });
  const full = () => (view.value = { u0: 0, u1: 1 });
  const around = (by: number) => {
    const v = view.peek();
    const u = entry ? shown.axis.at(millis(entry.time)) : (v.u0 + v.u1) / 2;
    view.value = zoomed(v, by, Math.min(v.u1, Math.max(v.u0, u)));
  };
  const sideways = (by: number) => (view.value = moved(view.peek(), by * (view.peek().u1 - view.peek().u0)));
  useKeys({
    ArrowRight: () => step(1),
    ArrowLeft: () => step(-1),
    'Shift+ArrowRight': () => sideways(0.25),
    'Shift+ArrowLeft': () => sideways(-0.25),
    '+': () => around(0.6),
    '-': () => around(1 / 0.6),
    e: () => flip('evidence', evidenceOnly),
    s: () => flip('nosymptoms', hideSymptoms),
    t: () => flip('notable', !tableShown),
    z: full,
    Escape: () => select(null),
  });

  const copy = async (what: string, text: string) => {
    try {
      await navigator.clipboard.writeText(text);
      say(`${what} copied`);
    } catch {
      say(`The browser does not let ${what.toLowerCase()} be copied`);
    }
  };
  const raw = useAnswer('/api/v1/allocations/{id}/raw/{ref}', { path: { id, ref: ref ?? '' }, unless: !ref });
  const nodes = [...new Set(a.timeline.map((e) => e.ids['node_id']).filter((n) => n !== undefined))];
  const latest = history.answer?.revisions.at(-1)?.assessment;
  const end = useEnd(a, asOf === null);
  const unshown = ref !== null && selected === null;

  return (
    <div class={entry || unshown ? 'with-drawer' : ''}>
      <div class="headline">
        <h1>
          <bdi>{oneLine(id)}</bdi>{' '}
          <span class="sub">
            {a.state ? words(a.state) : 'state unknown'}
            {nodes.slice(0, 4).map((n) => (
              <span key={n}>
                {' · node '}
                <a href={to.node(n)}>{oneLine(n)}</a>
              </span>
            ))}
            {nodes.length > 4 && ` and ${nodes.length - 4} more`}
          </span>
        </h1>
        <p class="tools">
          <Live asOf={asOf} />
          <button type="button" onClick={() => void copy('Link', location.href)}>
            Copy link
          </button>
          <button type="button" onClick={() => void copy('Markdown', markdown(a, location.href))}>
            Copy as Markdown
          </button>
          <button type="button" onClick={() => setRecovering(true)}>
            Recover…
          </button>
        </p>
      </div>
      <StateBar allocation={a} stuck={asOf === null ? (latest?.stuck ?? null) : null} end={end} />
      <div class="answer">
        <VerdictCard allocation={a} asOf={asOf} show={show} showAll={() => put({ evidence: '1' })} />
        <FourStates allocation={a} states={states.answer} problem={states.problem} show={show} />
      </div>
      <Replay revisions={history.answer?.revisions ?? []} asOf={asOf} />
      <section class="card timeline" aria-labelledby="timeline">
        <div class="bar">
          <h2 id="timeline" class="kicker">
            Timeline, a lane for each layer
          </h2>
          <Legend />
          <div class="toggles" role="group" aria-label="What the timeline shows">
            <Toggle on={evidenceOnly} press={() => flip('evidence', evidenceOnly)} name="Evidence only" letter="e" />
            <Toggle on={hideSymptoms} press={() => flip('nosymptoms', hideSymptoms)} name="Hide symptoms" letter="s" />
            <Toggle on={tableShown} press={() => flip('notable', !tableShown)} name="Table" letter="t" />
            <button type="button" onClick={full}>
              Zoom out <kbd>z</kbd>
            </button>
          </div>
        </div>
        <Lanes
          scene={shown}
          timeline={a.timeline}
          verdict={a.verdict}
          view={view}
          selected={selected}
          select={select}
        />
      </section>
      {tableShown && (
        <Table
          rows={rows.map((r) => r.row)}
          selected={selected === null ? null : rows.findIndex((r) => r.index === selected)}
          select={(n) => select(rows[n]!.index)}
          label={`Records of ${id}, in causal order`}
          origin={shown.axis.from}
        />
      )}
      <p class="soft foot">
        {a.timeline.length.toLocaleString('en')} records · judged as of{' '}
        <time dateTime={a.verdict.as_of}>{clock(end, 3)}</time> UTC · rules {a.verdict.rules_version}
      </p>
      {entry && (
        <Drawer
          entry={entry}
          mark={markOf(entry, marks)}
          note={meaning(entry.ref, a, marks)}
          raw={raw.answer?.ref === entry.ref ? raw.answer : undefined}
          problem={raw.problem}
          allocation={id}
          close={() => select(null)}
        />
      )}
      {unshown && raw.answer?.ref === ref && (
        <Drawer entry={raw.answer} mark="ordinary" raw={raw.answer} problem={raw.problem} close={() => select(null)} />
      )}
      <div class="unseen" role="status" aria-live="polite">
        {said}
      </div>
      {recovering && <Recovery id={id} nodes={nodes} close={() => setRecovering(false)} done={again} />}
    </div>
  );
}

// usual is the order of layers where the server doesn't say its own.
const usual = [
  'client',
  'deploy',
  'cert',
  'network',
  'ingress',
  'api_auth',
  'api',
  'db',
  'outbox',
  'workflow',
  'provider',
  'node_agent',
  'node',
  'projection',
];

function meaning(ref: string, a: Allocation, marks: ReturnType<typeof cited>): string | undefined {
  const proves = marks.evidence.get(ref);
  const follows = marks.symptoms.get(ref);
  const name = (n: number) => a.verdict.faults[n]!.rule;
  if (proves !== undefined) return `Evidence for ${name(proves)}.`;
  if (follows !== undefined) return `A symptom: it follows from ${name(follows)}.`;
  return undefined;
}

// useView keeps what is zoomed to as times in the address, so that a link shows the same though more arrives.
function useView(line: { at(t: number): number; time(u: number): number }) {
  const view = useMemo(() => {
    const q = place.peek().query;
    const from = q.get('from');
    const until = q.get('to');
    return signal<View>(from && until ? { u0: line.at(millis(from)), u1: line.at(millis(until)) } : { u0: 0, u1: 1 });
  }, []);
  const before = useRef(line);
  useEffect(() => {
    // more has arrived and the line is another: what is zoomed to stays what it was
    const v = view.peek();
    const old = before.current;
    if (old !== line && (v.u0 > 0 || v.u1 < 1))
      view.value = clamped({ u0: line.at(old.time(v.u0)), u1: line.at(old.time(v.u1)) });
    before.current = line;
    let timer: ReturnType<typeof setTimeout>;
    let first = true;
    const stop = view.subscribe((v) => {
      if (first) return void (first = false);
      clearTimeout(timer);
      timer = setTimeout(() => {
        const whole = v.u0 <= 0 && v.u1 >= 1;
        put({
          from: whole ? null : new Date(line.time(v.u0)).toISOString(),
          to: whole ? null : new Date(line.time(v.u1)).toISOString(),
        });
      }, 300);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [line]);
  return view;
}

function Toggle({ on, press, name, letter }: { on: boolean; press(): void; name: string; letter: string }) {
  return (
    <button type="button" aria-pressed={on} onClick={press}>
      {name} <kbd>{letter}</kbd>
    </button>
  );
}

function Live({ asOf }: { asOf: string | null }) {
  if (asOf !== null) return <span class="live past">as of {clock(millis(asOf), 3)}</span>;
  const words = { live: '● live', polling: '○ every 5 s', off: '○ not live' }[liveness.value];
  return <span class="live">as of now · {words}</span>;
}
