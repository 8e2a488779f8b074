import assert from 'node:assert/strict';
import { test } from 'node:test';
import { handoffsOf, layers } from '../../test/fake/states.ts';
import { large } from '../../test/fake/large.ts';
import { load } from '../../test/fake/world.ts';
import type { Handoff } from '../api/answers.ts';
import { scene, type Shown } from './scene.ts';

const world = load();
const all: Shown = { evidenceOnly: false, hideSymptoms: false };
const of = (id: string, shown = all, handoffs: Handoff[] = []) =>
  scene(world.allocations.get(id)!, layers, new Map(), handoffs, shown);

test('lanes stand in causal order, only those with something in them, and that of a cause though nothing was heard of it', () => {
  const names = of('a43').lanes.map((l) => l.layer);
  assert.deepEqual(
    names,
    layers.filter((l) => names.includes(l)),
  );
  assert.ok(names.includes('cert'));
  assert.ok(!names.includes('db'));
});

test('lanes do not overlap and every item lies on the line', () => {
  for (const id of world.allocations.keys()) {
    const s = of(id);
    let bottom = -1;
    for (const lane of s.lanes) {
      assert.ok(lane.top > bottom, id);
      bottom = lane.top + lane.height;
      for (const i of [...lane.items, ...lane.bars])
        assert.ok(i.u0 >= 0 && i.u1 <= 1 && i.u0 <= i.u1, `${id} ${i.u0} ${i.u1}`);
    }
  }
});

test('every entry but a gap can be selected, each once as a point or a bar', () => {
  for (const [id, a] of world.allocations) {
    const s = of(id);
    assert.equal(s.order.length, a.timeline.filter((e) => e.kind !== 'gap').length);
  }
});

test('a task that was never taken up is a silence of who should have taken it, from when it was queued', () => {
  const s = of('a43');
  const silence = s.silences.find((x) => x.label.includes('wipe5'))!;
  assert.equal(s.lanes[silence.lane]!.layer, 'node_agent');
  assert.equal(silence.from, Date.parse('2026-03-02T10:41:41.2Z'));
  assert.ok(silence.to > silence.from);
});

test('wipes are bars of the agent, from when they were taken up to when they failed', () => {
  const agent = of('a43').lanes.find((l) => l.layer === 'node_agent')!;
  assert.deepEqual(
    agent.bars.map((b) => [b.label, b.failed]),
    [0, 1, 2, 3, 4].map((n) => [`wipe${n}`, true]),
  );
});

test('evidence only and hidden symptoms leave out what they say', () => {
  const a = world.allocations.get('a43')!;
  const evidence = new Set(a.verdict.faults.flatMap((f) => f.evidence));
  const only = of('a43', { evidenceOnly: true, hideSymptoms: false });
  assert.equal(only.order.length, a.timeline.filter((e) => evidence.has(e.ref)).length);
  const without = of('a43', { evidenceOnly: false, hideSymptoms: true });
  assert.ok(without.lanes.every((l) => l.items.every((i) => i.mark !== 'symptom')));
});

test('handoffs lie between their lanes, one of them the frontier', () => {
  const s = of('a43', all, handoffsOf(world.allocations.get('a43')!.timeline));
  assert.ok(s.handoffs.length > 5);
  assert.equal(s.handoffs.filter((h) => h.frontier).length, 1);
});

test('ties are few, and lead from evidence to symptoms', () => {
  const s = scene(large(), layers, new Map(), [], all);
  assert.ok(s.ties.length <= 14);
  for (const t of of('a43').ties) assert.notEqual(t.from.lane, t.to.lane);
});

test('ten thousand events are laid out at once', () => {
  const a = large();
  const begun = performance.now();
  scene(a, layers, new Map(), [], all);
  assert.ok(performance.now() - begun < 400);
});

test('an allocation of which nothing is known has a scene', () => {
  const a = { ...world.allocations.get('a43')!, timeline: [] };
  assert.equal(scene(a, layers, new Map(), [], all).order.length, 0);
});
