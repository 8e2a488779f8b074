import * as units from '@grafana/grafana-foundation-sdk/units';
import type { Described } from './dashboard.ts';
import { toPage } from './link.ts';
import { bars, graph, list, number, stacked, unit, width } from './panel.ts';
import { fleet as all, now, over, series, table, worst } from './query.ts';
import { as } from './threshold.ts';
import * as variable from './variable.ts';

const chosen = 'provider=~"$provider"';
const pending = 'rule=~"provider\\\\.(capacity|scheduling|unschedulable|quota)"';
const seconds = [unit(units.Seconds), width(100)];

export const providers: Described = {
  name: 'providers',
  title: 'Providers',
  answers: 'AAP against EDA: what each step takes with either, how far it spreads, and what goes wrong.',
  page: '/ui/#incidents',
  variables: [variable.provider(), variable.operation()],
  rows: [
    [
      'Now',
      [
        number(
          'Pending for want of room',
          units.Short,
          as(['FaultlineProviderPending']),
          now(all('faultline_fleet_provider_faults', ['provider'], ['rule'], `${chosen}, ${pending}`), '{{provider}}'),
        ).span(8),
        number(
          'Cancel ignored',
          units.Short,
          as(['FaultlineProviderCancelIgnored']),
          now(
            all('faultline_fleet_provider_faults', ['provider'], ['rule'], `${chosen}, rule="provider.cancel_ignored"`),
            '{{provider}}',
          ),
        ).span(8),
        number(
          'Jobs that cannot be observed',
          units.Short,
          as(['FaultlineProviderUnobservable']),
          now(worst('faultline_provisioner_unobserved_provider_jobs', ['provider'], chosen), '{{provider}}'),
        ).span(8),
      ],
    ],
    [
      'Latency by phase',
      [
        list('Steps, with their spread', table('providers_phases'))
          .height(12)
          .description(
            'What succeeded in the time range. Half took p50 at most, nine of ten p90; deviation is that of the sample. "job" is the provider\'s own part.',
          )
          .overrideByName('step', [width(240)])
          .overrideByName('provider', [width(120)])
          .overrideByName('cases', [unit(units.Short), width(90)])
          .overrideByRegexp('/^(p[0-9]+|longest|deviation)$/', seconds)
          .links([
            toPage(
              'Compared with confidence: the API',
              '/api/v1/providers/compare?from=${__from:date:iso}&to=${__to:date:iso}',
            ),
          ]),
        bars('Spread of $operation jobs', units.Seconds, table('providers_spread'))
          .span(12)
          .description('The middle and the edges of what jobs took over the whole time range.'),
        graph('$operation jobs over time', units.Seconds, series('providers_jobs')),
      ],
    ],
    [
      'Load and faults',
      [
        stacked(
          graph(
            'Allocations by provider and state',
            units.Short,
            over(
              `${all('faultline_fleet_provider_allocations', ['provider', 'state'], [], `${chosen}, state!~"released|canceled"`)} > 0`,
              '{{provider}} {{state}}',
            ),
          ),
        ),
        graph(
          'Open faults by rule',
          units.Short,
          over(all('faultline_fleet_provider_faults', ['provider', 'rule'], [], chosen), '{{provider}} {{rule}}'),
        ),
      ],
    ],
  ],
};
