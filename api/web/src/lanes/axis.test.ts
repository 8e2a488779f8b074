import assert from 'node:assert/strict';
import { test } from 'node:test';
import { random } from '../../test/fake/large.ts';
import { axis, ticks } from './axis.ts';
import { idle } from './idle.ts';

const minute = 60_000;

test('pauses that dwarf the rest are folded, those that say something are not', () => {
  const times = [0, 1, 2, 360, 365, 369, 440, 445, 450].map((m) => m * minute);
  assert.deepEqual(
    idle(times).map((i) => [i.from / minute, i.to / minute]),
    [
      [2, 360],
      [369, 440],
    ],
  );
  assert.deepEqual(idle([0, 5000, 30_000]), []); // half a minute is seen
  assert.deepEqual(idle([]), []);
});

test('the axis is monotonous and its own inverse, folded or not', () => {
  for (let seed = 1; seed <= 50; seed++) {
    const next = random(seed);
    const times = Array.from({ length: 40 }, () => next() ** 4 * 1e8).sort((a, b) => a - b);
    const a = axis(times[0]!, times.at(-1)!, idle(times));
    let before = -1;
    for (const t of times) {
      const u = a.at(t);
      assert.ok(u >= before && u >= 0 && u <= 1, `${seed}: ${u} after ${before}`);
      assert.ok(Math.abs(a.time(u) - t) < 1, `${seed}: ${t} became ${a.time(u)}`);
      before = u;
    }
  }
});

test('an allocation of one moment has an axis, too', () => {
  const a = axis(5, 5, []);
  assert.ok(a.at(5) >= 0 && a.at(5) < 0.1);
});

test('ticks are round, apart, and none inside a fold, however far apart the ends are', () => {
  const a = axis(0, 7 * 24 * 60 * minute, [{ from: 5 * minute, to: 7 * 24 * 60 * minute - 5 * minute }]);
  const { step, ticks: shown } = ticks(a, 0, 1, 0.1);
  assert.ok(shown.length >= 4 && shown.length < 15, `${shown.length}`);
  for (const t of shown) {
    assert.ok(t.time % step === 0);
    assert.ok(!(t.u > a.folds[0]!.u0 + 1e-9 && t.u < a.folds[0]!.u1 - 1e-9));
  }
  assert.ok(ticks(a, 0.4, 0.4000001, 0.00000002).ticks.length <= 100);
});
