import * as units from '@grafana/grafana-foundation-sdk/units';
import { verdicts } from './annotation.ts';
import type { Described } from './dashboard.ts';
import { nodeInPage, ruleInPage, toNode, toPage, traceInPage } from './link.ts';
import { bars, columns, graph, list, opens, raw, strip, unit, width, word } from './panel.ts';
import { lineCount, lines, series, table } from './query.ts';
import * as variable from './variable.ts';

const path = '/ui/allocations/${allocation_id:percentencode}';

export const allocation: Described = {
  name: 'allocation',
  title: 'Allocation',
  answers: 'What happened to one allocation in every layer, what was said of it, and what it is linked to.',
  page: path,
  variables: [variable.allocation(), variable.cluster(), variable.service()],
  annotations: [verdicts()],
  rows: [
    [
      'Verdict',
      [
        word('State', table('allocation_state'))
          .overrideByName('age', [unit(units.DurationSeconds)])
          .links([toPage('Open in the page', path)]),
        bars('Time in each state', units.Seconds, table('allocation_stays')).height(8).span(16),
        list('Verdict', table('allocation_verdict'))
          .height(6)
          .overrideByName('judged', [width(180)])
          .overrideByName('rule', [opens(ruleInPage())])
          .links([toPage('Evidence, in the page', path)]),
        list('What the verdict lacks', table('allocation_missing')).height(5).span(12).noValue('nothing'),
        list('What was said, as it changed', table('allocation_history'))
          .height(5)
          .span(12)
          .overrideByName('time', [width(180)]),
      ],
    ],
    [
      'Timeline',
      [
        strip('States over time', table('allocation_states')),
        columns(graph('Records by source', units.Short, series('allocation_sources'))).span(24),
        list('Records', table('allocation_records'))
          .height(14)
          .overrideByName('time', [width(200)])
          .overrideByName('service', [width(170)])
          .overrideByName('name', [width(180)])
          .overrideByName('level', [width(70)])
          .overrideByName('node_id', [opens(toNode(), nodeInPage()), width(160)])
          .overrideByName('trace_id', [opens(traceInPage()), width(120)])
          .overrideByName('via', [width(110)]),
      ],
    ],
    [
      'Links',
      [
        list('Nodes', table('allocation_nodes'))
          .span(12)
          .overrideByName('node_id', [opens(toNode(), nodeInPage())]),
        list("Provider's jobs", table('allocation_jobs'))
          .span(12)
          .overrideByName('waited', [unit(units.Seconds)])
          .overrideByName('ran', [unit(units.Seconds)]),
        list('Identifiers that lead here', table('allocation_links'))
          .overrideByName('kind', [width(160)])
          .links([toPage('Open in the page', path)]),
      ],
    ],
    [
      'Lines in Loki',
      [
        columns(graph('Lines by severity', units.Short, lineCount('allocation_id', 'allocation_id')))
          .span(24)
          .height(5),
        raw('Lines', lines('allocation_id', 'allocation_id')),
      ],
    ],
  ],
};
