import * as units from '@grafana/grafana-foundation-sdk/units';
import type { Described } from './dashboard.ts';
import { allocationInPage, toAllocation, toLayer } from './link.ts';
import { bars, coloured, graph, limited, list, number, opens, stacked, unit, width } from './panel.ts';
import { fleet as all, fleetQuantile, flow, now, over, table, told, worst } from './query.ts';
import { as } from './threshold.ts';

const changes = (to: string) =>
  `max(sum without (from, to) (increase(${told('faultline_fleet_verdict_changes_total', to)}[1h])))`;
const undetermined = `${changes('to="undetermined"')} / (${changes('to!="none"')} > 0)`;

const stuckAlerts = ['FaultlineStuckRequested'];

export const fleet: Described = {
  name: 'fleet',
  title: 'Fleet',
  answers: 'Where all allocations stand, how they move, how long they stay, and whose are those that do not move.',
  page: '/ui/',
  variables: [],
  rows: [
    [
      'Now',
      [
        number(
          'Allocations',
          units.Short,
          as([]),
          now(all('faultline_fleet_allocations', [], ['state', 'layer', 'owner']), 'allocations'),
        ),
        number(
          'Stuck',
          units.Short,
          as(stuckAlerts),
          now(all('faultline_fleet_stuck_allocations', [], ['state', 'layer', 'owner']), 'stuck'),
        ),
        number(
          'Open incidents',
          units.Short,
          as([]),
          now(all('faultline_fleet_open_incidents', [], ['layer', 'owner']), 'open'),
        ),
        number(
          'Release failed',
          units.Short,
          as(['FaultlineReleaseFailed']),
          now(
            all('faultline_fleet_allocations', [], ['state', 'layer', 'owner'], 'state="release_failed"'),
            'release_failed',
          ),
        ),
        number(
          'Idle',
          units.Short,
          as(['FaultlineIdle']),
          now(
            all('faultline_fleet_idle_allocations', [], ['state'], 'state!~"active|released|canceled|failed"'),
            'idle',
          ),
        ).description('Longer in a state than its budget, and nothing was heard of them for five minutes.'),
        number('Orphans', units.Short, as(['FaultlineOrphans']), now(all('faultline_fleet_orphans', []), 'orphans')),
      ],
    ],
    [
      'States and flow',
      [
        stacked(
          graph(
            'Allocations by state',
            units.Short,
            over(all('faultline_fleet_allocations', ['state'], ['layer', 'owner']), '{{state}}'),
          ),
        ),
        graph(
          'Flow',
          units.CountsPerSecond,
          over(`${flow('faultline_fleet_transitions_total', ['from', 'to'])} > 0`, '{{from}} → {{to}}'),
        ).description('Changes of state a second. What an allocation passed through between two looks is "other".'),
        stacked(
          graph('Verdicts', units.Short, over(all('faultline_fleet_verdicts', ['outcome'], ['layer']), '{{outcome}}')),
        ),
        graph(
          'Changes of verdicts',
          units.CountsPerSecond,
          over(`${flow('faultline_fleet_verdict_changes_total', ['to'], ['from'])} > 0`, 'to {{to}}'),
        ),
      ],
    ],
    [
      'Doubt',
      [
        limited(
          graph('Share of verdicts that are undetermined', units.PercentUnit, over(undetermined, 'undetermined')).max(
            1,
          ),
          as(['FaultlineVerdictsUndetermined']),
        ).description('Of the verdicts of an hour that say something; what is missing stands in each of them.'),
        bars(
          'Views that drift',
          units.Short,
          now(`${all('faultline_fleet_drift', ['projection'], ['field'])} > 0`, '{{projection}}'),
        )
          .thresholds(as(['FaultlineDrift']))
          .noValue('no view drifts')
          .span(12),
      ],
    ],
    [
      'Time in state',
      [
        graph(
          'Time in state',
          units.Seconds,
          over(fleetQuantile(0.5, 'faultline_fleet_state_duration_seconds', ['state']), 'p50 {{state}}'),
          over(fleetQuantile(0.9, 'faultline_fleet_state_duration_seconds', ['state']), 'p90 {{state}}'),
        ).description('How long allocations were in a state that they left by a legal move.'),
        graph(
          'Provisioning and release',
          units.Seconds,
          over(
            fleetQuantile(0.5, 'faultline_fleet_operation_duration_seconds', ['operation', 'outcome']),
            'p50 {{operation}} {{outcome}}',
          ),
          over(
            fleetQuantile(0.99, 'faultline_fleet_operation_duration_seconds', ['operation', 'outcome']),
            'p99 {{operation}} {{outcome}}',
          ),
        ),
        limited(
          graph(
            'Share that did not succeed within 15 minutes',
            units.PercentUnit,
            over(`max by (operation) (${told('faultline:operation_errors:ratio1h')})`, '1 h {{operation}}'),
            over(`max by (operation) (${told('faultline:operation_errors:ratio6h')})`, '6 h {{operation}}'),
          ),
          as(['FaultlineObjectiveBurnsSlow', 'FaultlineObjectiveBurnsFast']),
        ).description('Lines are where the objective (99 %) burns: 6 % of six hours warns, 14.4 % of an hour pages.'),
        graph(
          'Oldest in each state',
          units.Seconds,
          over(
            worst('faultline_fleet_oldest_age_seconds', ['state'], 'state!~"released|canceled|failed"'),
            '{{state}}',
          ),
        ),
      ],
    ],
    [
      'Stuck, by owner',
      [
        bars(
          'Stuck by owner',
          units.Short,
          now(
            `${all('faultline_fleet_stuck_allocations', ['owner', 'layer'], ['state'])} > 0`,
            '{{owner}} ({{layer}})',
          ),
        )
          .thresholds(as(stuckAlerts))
          .noValue('nothing is stuck')
          .dataLinks([toLayer('layer')]),
        bars(
          'Stuck by state',
          units.Short,
          now(`${all('faultline_fleet_stuck_allocations', ['state'], ['layer', 'owner'])} > 0`, '{{state}}'),
        )
          .thresholds(as(stuckAlerts))
          .noValue('nothing is stuck'),
        bars(
          'Longest overdue',
          units.Seconds,
          now(`${worst('faultline_fleet_overdue_seconds', ['state'])} > 0`, '{{state}}'),
        ).noValue('nothing is overdue'),
        list('What is stuck', table('fleet_stuck'))
          .overrideByName('overdue', [unit(units.DurationSeconds), width(140)])
          .overrideByName('state', [...coloured, width(130)])
          .overrideByName('allocation_id', [opens(toAllocation(), allocationInPage()), width(300)]),
        list('Changes of verdicts', table('fleet_said'))
          .overrideByName('time', [width(180)])
          .overrideByName('allocation_id', [opens(toAllocation(), allocationInPage()), width(300)]),
      ],
    ],
  ],
};
