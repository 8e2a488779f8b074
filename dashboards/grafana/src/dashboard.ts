import {
  DashboardBuilder,
  DashboardCursorSync,
  RowBuilder,
  TimePickerBuilder,
  type AnnotationQuery,
  type Panel,
  type VariableModel,
} from '@grafana/grafana-foundation-sdk/dashboard';
import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import { incidents } from './annotation.ts';
import { links, uid } from './link.ts';
import { environment, page } from './variable.ts';

// Described is a dashboard before it is built: rows of panels, and what it adds to what all have.
export interface Described {
  name: string;
  title: string;
  answers: string;
  page: string; // where the page tells of the same
  variables: Builder<VariableModel>[];
  annotations?: Builder<AnnotationQuery>[];
  rows: [title: string, panels: (Builder<Panel> & { id(id: number): unknown })[]][];
}

// build gives panels their ids in order, so that the same description gives the same JSON.
export function build(d: Described): DashboardBuilder {
  const b = new DashboardBuilder(`Faultline / ${d.title}`)
    .uid(uid(d.name))
    .description(d.answers)
    .tags(['faultline'])
    .readonly()
    .time({ from: 'now-6h', to: 'now' })
    .timezone('browser')
    .refresh('30s')
    .timepicker(new TimePickerBuilder().refreshIntervals(['15s', '30s', '1m', '5m', '15m']))
    .tooltip(DashboardCursorSync.Crosshair)
    .links(links(d.page))
    .variables([environment(), page(), ...d.variables])
    .annotations([incidents(), ...(d.annotations ?? [])]);
  let id = 0;
  for (const [title, panels] of d.rows) {
    b.withRow(new RowBuilder(title).id(++id));
    for (const panel of panels) {
      panel.id(++id);
      b.withPanel(panel);
    }
  }
  return b;
}
