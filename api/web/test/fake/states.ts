// What the fake says beyond the recorded answers: the four states, handoffs, nodes, sources, layers, lookups, recovery.
import type { Entry, FullEvent, Handoff, LayerList, Lookup, Node, SourceList, States } from '../../src/api/answers.ts';
import { now, type World } from './world.ts';

// alive is longer than the server's five minutes: the stories of the fixtures end at different times.
const alive = 1000; // s

export const layers = [
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

const teams: Record<string, string> = {
  cert: 'platform PKI',
  ingress: 'edge',
  api_auth: 'identity and access',
  workflow: 'provisioning',
  provider: 'automation',
  node_agent: 'node agent',
  node: 'hardware',
};

export function statesOf(timeline: Entry[], id: string, asOf: string, drift: States['drift']): States {
  const last = (test: (e: Entry) => boolean) => timeline.findLast(test);
  const word = (e: Entry) => e.summary.replace(/ \(.*/, '').split(' ').at(-1)!;
  const asked = last((e) => e.kind === 'audit' || (e.name === 'allocation.state' && /requested$/.test(e.summary)));
  const out: States = {
    allocation_id: id,
    as_of: asOf,
    desired: null,
    execution: [],
    observed: [],
    projected: [],
    drift,
    handoffs: handoffsOf(timeline),
  };
  if (asked)
    out.desired = {
      value: /release/.test(asked.summary) ? 'released' : 'active',
      since: asked.time,
      by: asked.kind === 'audit' ? (asked.summary.split(' ')[1] ?? '') : asked.source,
      ref: asked.ref,
    };
  const workflow = last((e) => e.name === 'workflow.state');
  if (workflow)
    out.execution.push({
      kind: 'workflow',
      id: workflow.ids['workflow_id'] ?? '',
      operation: workflow.summary.split(' ')[2] ?? '',
      value: word(workflow),
      since: workflow.time,
      ref: workflow.ref,
    });
  const task = last((e) => e.name === 'task.state');
  if (task)
    out.execution.push({
      kind: 'task',
      id: task.ids['task_id'] ?? '',
      operation: task.summary.split(' ')[2] ?? '',
      value: word(task),
      since: task.time,
      ref: task.ref,
    });
  const state = last((e) => e.name === 'allocation.state');
  if (state) out.observed.push({ kind: 'allocation', id, value: word(state), since: state.time, ref: state.ref });
  const occupancy = last((e) => e.name === 'node.occupancy');
  if (occupancy)
    out.observed.push({
      kind: 'node',
      id: occupancy.ids['node_id'] ?? '',
      value: word(occupancy),
      since: occupancy.time,
      ref: occupancy.ref,
    });
  for (const view of new Set(timeline.filter((e) => e.kind === 'projection').map((e) => e.summary.split(' ')[0]!))) {
    const e = last((x) => x.kind === 'projection' && x.summary.startsWith(view))!;
    const [, , field = '', value = ''] = e.summary.split(' ');
    out.projected.push({
      projection: view,
      field,
      value,
      seen: e.time,
      as_of: null,
      drift: drift.some((d) => d.projection === view && d.field === field),
      ref: e.ref,
    });
  }
  return out;
}

export function handoffsOf(timeline: Entry[]): Handoff[] {
  const out: Handoff[] = [];
  const add = (name: string, from: string, to: string, key: string) => {
    for (const id of new Set(timeline.filter((e) => e.name === name).map((e) => e.ids[key]!))) {
      const steps = timeline.filter((e) => e.name === name && e.ids[key] === id);
      const lastStep = steps.at(-1)!;
      const told = steps.map((e) => e.summary).join(' ');
      const taken = /dispatched|running|published/.test(told);
      const state = /succeeded|completed|published/.test(told)
        ? 'answered'
        : /failed/.test(told) && taken
          ? 'refused'
          : taken
            ? 'at_work'
            : 'sent';
      out.push({
        from,
        to,
        what: `${name.split('.')[0]} ${id}`,
        state,
        at: (taken ? lastStep : steps[0]!).time,
        proof: steps.map((e) => e.ref),
        frontier: false,
      });
    }
  };
  add('outbox.record', 'api', 'outbox', 'outbox_id');
  add('workflow.state', 'outbox', 'workflow', 'workflow_id');
  add('task.state', 'workflow', 'node_agent', 'task_id');
  const proven = out.filter((h) => h.to !== 'node_agent' || h.state !== 'sent').at(-1);
  if (proven) proven.frontier = true;
  return out;
}

export function layerList(w: World): LayerList {
  return {
    as_of: now,
    layers: layers.map((layer) => {
      const last = w.events.findLast((e) => e.layer === layer);
      const open = w.incidents.filter((i) => i.layer === layer && i.open);
      return {
        layer,
        owner: teams[layer] ? { team: teams[layer] } : {},
        sources: [...new Set(w.events.filter((e) => e.layer === layer).map((e) => e.source))],
        last_heard: last?.time ?? null,
        silent: !last || Date.parse(now) - Date.parse(last.time) > alive * 1000,
        blamed: open.reduce((n, i) => n + i.victims.length, 0),
        stuck: 0,
      };
    }),
  };
}

export function sourceList(w: World): SourceList {
  const by = grouped(w.events.filter((e) => e.ids['allocation_id'] !== 'a-large'));
  return {
    as_of: now,
    window_seconds: 3600,
    sources: [...by].map(([source, events]) => {
      const last = events.at(-1)!;
      const silent = Math.round((Date.parse(now) - Date.parse(last.time)) / 1000);
      const share = (key: string) => events.filter((e) => e.ids[key]).length / events.length;
      return {
        source,
        layer: last.layer,
        alive: silent < alive,
        last_heard: last.time,
        silent_seconds: silent,
        records: events.length,
        errors: events.filter((e) => e.severity === 'error').length,
        lag_seconds: 0.005,
        ahead_seconds: source === 'kernel' ? 0.4 : 0,
        unresolved: 0,
        coverage: Object.fromEntries(
          ['allocation_id', 'workflow_id', 'correlation_id', 'node_id', 'node_instance_id'].map((k) => [k, share(k)]),
        ),
      };
    }),
  };
}

function grouped(events: FullEvent[]): Map<string, FullEvent[]> {
  const out = new Map<string, FullEvent[]>();
  for (const e of events) out.set(e.source, [...(out.get(e.source) ?? []), e]);
  return out;
}

export function nodeOf(w: World, id: string): Node | undefined {
  const own = w.events.filter((e) => e.ids['node_id'] === id);
  if (own.length === 0) return undefined;
  const assignments = [...new Set(own.map((e) => e.ids['allocation_id']).filter((a) => a !== undefined))].map((a) => {
    const held = own.filter((e) => e.ids['allocation_id'] === a);
    const unassigned = held.find((e) => e.name === 'node.unassigned');
    return { allocation_id: a, from: held[0]!.time, to: unassigned?.time ?? null };
  });
  const instances = [...new Set(own.map((e) => e.ids['node_instance_id']).filter((i) => i !== undefined))].map(
    (i, n, all) => {
      const mine = own.filter((e) => e.ids['node_instance_id'] === i);
      return { node_instance_id: i, from: mine[0]!.time, to: n < all.length - 1 ? mine.at(-1)!.time : null };
    },
  );
  if (id === 'gpu-17') {
    instances.unshift({ node_instance_id: 'gpu-17-i2', from: '2026-03-01T22:10:00Z', to: '2026-03-02T03:58:00Z' });
    assignments.unshift({ allocation_id: 'a31', from: '2026-03-01T22:12:00Z', to: '2026-03-02T03:40:00Z' });
  }
  const occupancy = own.findLast((e) => e.name === 'node.occupancy');
  const value = occupancy?.summary.replace(/ \(.*/, '').split(' ').at(-1) ?? '';
  return {
    node_id: id,
    allocation_id: assignments.findLast((a) => a.to === null)?.allocation_id ?? null,
    occupancy: value,
    occupancy_since: occupancy?.time ?? null,
    drift:
      id === 'gpu-17' && occupancy
        ? [{ projection: 'inventory', field: 'occupancy', shown: 'free', truth: value, since: occupancy.time }]
        : [],
    last_heard: own.at(-1)!.time,
    instances,
    assignments,
  };
}

export function lookupOf(w: World, id: string): Lookup | undefined {
  const carries = w.events.filter((e) => Object.values(e.ids).includes(id) || e.trace_id === id);
  if (carries.length === 0 && !w.allocations.has(id)) return undefined;
  const kinds = [
    ...new Set(
      carries.flatMap((e) =>
        Object.entries(e.ids)
          .filter(([, v]) => v === id)
          .map(([k]) => k.replace(/_id$/, '')),
      ),
    ),
  ];
  const owners = w.allocations.has(id)
    ? [id]
    : [...new Set(carries.map((e) => e.ids['allocation_id']).filter((a) => a !== undefined))];
  const last = carries.at(-1);
  return {
    id,
    kinds: kinds.length > 0 ? kinds : ['allocation'],
    allocations: owners.map((a) => {
      const whole = w.allocations.get(a);
      return {
        allocation_id: a,
        state: whole?.state ?? null,
        since: whole?.since ?? null,
        first_seen: carries[0]?.time ?? now,
        last_seen: last?.time ?? now,
      };
    }),
    nodes: [...new Set(carries.map((e) => e.ids['node_id']).filter((n) => n !== undefined))],
    last_heard: last
      ? { time: last.time, source: last.source, layer: last.layer, summary: last.summary, ref: last.ref }
      : null,
    layers: layerList(w).layers.map(({ layer, last_heard, silent }) => ({ layer, last_heard, silent })),
  };
}

export const recoveries = {
  actions: [
    {
      name: 'lift-fence',
      of: 'nodes',
      role: 'operator',
      does: 'Lets the node be cleaned up again.',
      when: 'Its disk was replaced.',
      guards: [],
    },
    {
      name: 'retry-release',
      of: 'allocations',
      role: 'operator',
      does: 'Starts the release again, as a new workflow of the same allocation.',
      when: 'The cause of the failed release is mended.',
      guards: [
        { guard: 'reason_given', reason: 'no reason was given', satisfied_by: 'a reason' },
        { guard: 'node_not_fenced', reason: 'the node is fenced', satisfied_by: 'release the fence first' },
      ],
    },
    {
      name: 'force-release',
      of: 'allocations',
      role: 'admin',
      does: 'Releases the allocation though its node was not wiped.',
      when: 'Somebody has seen that nothing runs on the node any more.',
      guards: [
        {
          guard: 'runtime_verified_absent',
          reason: 'nobody has seen that nothing runs',
          satisfied_by: 'runtime_verified_absent and its evidence',
        },
      ],
    },
  ],
};
