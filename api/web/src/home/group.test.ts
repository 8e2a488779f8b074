import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Listed } from '../api/answers.ts';
import { grouped } from './group.ts';

const one = (allocation_id: string, more: Partial<Listed>): Listed => ({
  allocation_id,
  state: 'active',
  since: null,
  last_seen: '2026-03-02T10:00:00Z',
  ...more,
});

test('allocations are grouped by owner: what is stuck first, what nobody owns last, what is well not at all', () => {
  const groups = grouped([
    one('a', { outcome: 'none' }),
    one('b', { state: 'failed', outcome: 'undetermined' }),
    one('c', { outcome: 'attributed', layer: 'cert', team: 'pki' }),
    one('d', { outcome: 'attributed', layer: 'cert', team: 'pki' }),
    one('e', { stuck: true, overdue_seconds: 60, outcome: 'attributed', layer: 'node', team: 'hardware' }),
    one('e', { stuck: true, outcome: 'attributed', layer: 'node', team: 'hardware' }),
    one('f', { state: 'released', outcome: 'attributed', layer: 'cert', team: 'pki' }),
  ]);
  assert.deepEqual(
    groups.map((g) => [g.owner, g.allocations.map((a) => a.allocation_id).join('')]),
    [
      ['hardware', 'e'],
      ['pki', 'cd'],
      ['nobody yet: undetermined', 'b'],
    ],
  );
});
