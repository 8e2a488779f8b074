import * as units from '@grafana/grafana-foundation-sdk/units';
import type { Described } from './dashboard.ts';
import { toPage } from './link.ts';
import { bars, columns, graph, limited, list, opens, stacked, unit, width } from './panel.ts';
import { fleet as all, now, over, series, table, worst } from './query.ts';
import { as } from './threshold.ts';
import * as variable from './variable.ts';

const chosen = 'layer=~"$layer"';

export const layers: Described = {
  name: 'layers',
  title: 'Layers',
  answers: 'Which layers are well, which are silent, and which were blamed for what, over time.',
  page: '/ui/#incidents',
  variables: [variable.layer()],
  rows: [
    [
      'Health',
      [
        bars(
          'Silent for',
          units.Seconds,
          now(worst('faultline_layer_silence_seconds', ['layer', 'owner'], chosen), '{{layer}} ({{owner}})'),
        )
          .thresholds(as(['FaultlineLayerSilent']))
          .description('Silence is no proof that a layer is down: few speak when nothing is asked of them.'),
        bars(
          'Blamed for',
          units.Short,
          now(worst('faultline_layer_blamed_allocations', ['layer', 'owner'], chosen), '{{layer}} ({{owner}})'),
        ).description('Allocations with an open fault of the layer.'),
        bars(
          'Open incidents',
          units.Short,
          now(`${all('faultline_fleet_open_incidents', ['layer', 'owner'], [], chosen)} > 0`, '{{layer}} ({{owner}})'),
        )
          .noValue('none is open')
          .links([toPage('Incidents in the page', '/ui/#incidents')]),
        limited(
          graph(
            'Silence',
            units.Seconds,
            over(worst('faultline_layer_silence_seconds', ['layer'], chosen), '{{layer}}'),
          ),
          as(['FaultlineLayerSilent']),
        ),
        stacked(
          graph(
            'Victims of open incidents',
            units.Short,
            over(all('faultline_fleet_incident_victims', ['layer'], ['owner'], chosen), '{{layer}}'),
          ),
        ),
      ],
    ],
    [
      'Blame over time',
      [
        stacked(
          graph(
            'Allocations with an open fault',
            units.Short,
            over(worst('faultline_layer_blamed_allocations', ['layer'], chosen), '{{layer}}'),
          ),
        ),
        columns(graph('Verdicts that blame a layer', units.Short, series('layers_blame'))).description(
          'Allocations that got such a verdict in each interval, as it was kept.',
        ),
        list('Causes', table('layers_causes'))
          .span(12)
          .overrideByName('allocations', [unit(units.Short), width(110)])
          .overrideByName('mechanism', [
            opens(
              toPage(
                'Rules',
                '/ui/rules?q=${__data.fields["layer"]:percentencode}.${__data.fields["mechanism"]:percentencode}',
              ),
            ),
          ]),
        graph(
          'Stuck, by the layer whose trouble it is',
          units.Short,
          over(all('faultline_fleet_stuck_allocations', ['layer'], ['state', 'owner'], chosen), '{{layer}}'),
        ).thresholds(as(['FaultlineStuckRequested'])),
      ],
    ],
    [
      'Sources',
      [
        columns(graph('Errors reported, by source', units.Short, series('layers_errors'))).span(24),
        list('Sources', table('layers_heard'))
          .overrideByName('rows_written', [unit(units.Short)])
          .overrideByName('errors', [unit(units.Short)])
          .overrideByName('silent', [unit(units.DurationSeconds)])
          .links([toPage('Sources in the page', '/ui/sources')]),
      ],
    ],
  ],
};
