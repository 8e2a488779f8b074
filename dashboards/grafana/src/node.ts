import * as units from '@grafana/grafana-foundation-sdk/units';
import type { Described } from './dashboard.ts';
import { allocationInPage, toAllocation, toPage } from './link.ts';
import { columns, graph, list, opens, raw, strip, width } from './panel.ts';
import { lineCount, lines, over, series, table, told } from './query.ts';
import * as variable from './variable.ts';

const path = '/ui/nodes/${node_id:percentencode}';

export const node: Described = {
  name: 'node',
  title: 'Node',
  answers: 'One machine over its installations: who had it when, what it was used for, and what it said.',
  page: path,
  variables: [variable.node(), variable.nodeInstance(), variable.cluster(), variable.service()],
  rows: [
    [
      'Occupancy',
      [
        strip('Occupancy', table('node_occupancy')),
        list('Node instances', table('node_instances'))
          .span(12)
          .links([toPage('Open in the page', path)]),
        list('Allocations that had it', table('node_assignments'))
          .span(12)
          .overrideByName('allocation_id', [opens(toAllocation(), allocationInPage())]),
      ],
    ],
    [
      'Evidence',
      [
        columns(graph('Records by source', units.Short, series('node_sources'))).span(24),
        list('Records', table('node_records'))
          .height(14)
          .overrideByName('time', [width(200)])
          .overrideByName('service', [width(150)])
          .overrideByName('name', [width(160)])
          .overrideByName('level', [width(70)])
          .overrideByName('allocation_id', [opens(toAllocation(), allocationInPage()), width(200)])
          .overrideByName('node_instance_id', [width(160)])
          .overrideByName('via', [width(110)]),
      ],
    ],
    [
      'Lines in Loki',
      [
        columns(graph('Lines of the node by severity', units.Short, lineCount('node_id', 'node_id')))
          .span(24)
          .height(5),
        raw('Lines of the chosen node instance', lines('node_instance_id', 'node_instance_id')).description(
          'Also of one that was wiped since.',
        ),
        raw('Lines of the node', lines('node_id', 'node_id')),
      ],
    ],
    [
      'All nodes',
      [
        graph(
          'Nodes by occupancy',
          units.Short,
          over(`max by (occupancy) (${told('faultline_provisioner_nodes')})`, '{{occupancy}}'),
        ).span(24),
      ],
    ],
  ],
};
