import type { Builder, Dataquery } from '@grafana/grafana-foundation-sdk/cog';
import { PanelBuilder as BarGauge } from '@grafana/grafana-foundation-sdk/bargauge';
import {
  BarGaugeDisplayMode,
  BigValueColorMode,
  BigValueGraphMode,
  GraphDrawStyle,
  GraphThresholdsStyleConfigBuilder,
  GraphThresholdsStyleMode,
  LegendDisplayMode,
  LegendPlacement,
  ReduceDataOptionsBuilder,
  SortOrder,
  StackingConfigBuilder,
  StackingMode,
  TooltipDisplayMode,
  VisibilityMode,
  VizLegendOptionsBuilder,
  VizOrientation,
  VizTooltipOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common';
import {
  FieldColorBuilder,
  FieldColorModeId,
  MappingType,
  type DashboardLink,
  type DynamicConfigValue,
  type ThresholdsConfig,
  type ValueMapping,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { PanelBuilder as Logs } from '@grafana/grafana-foundation-sdk/logs';
import { PanelBuilder as Stat } from '@grafana/grafana-foundation-sdk/stat';
import { PanelBuilder as StateTimeline } from '@grafana/grafana-foundation-sdk/statetimeline';
import { PanelBuilder as Table } from '@grafana/grafana-foundation-sdk/table';
import { PanelBuilder as Timeseries } from '@grafana/grafana-foundation-sdk/timeseries';
import { clickhouse, loki, prometheus } from './datasource.ts';

type Target = Builder<Dataquery> & { refId(refId: string): Target };

// lettered gives targets the names A, B, C … by which Grafana tells them apart.
const lettered = (targets: Target[]): Target[] => targets.map((t, i) => t.refId(String.fromCharCode(65 + i)));

// source of a panel is that of its targets: they are of one kind.
function source(targets: Target[]) {
  const type = (targets[0]!.build() as Dataquery & { datasource: { type: string } }).datasource.type;
  return [prometheus, clickhouse, loki].find((one) => one.type === type)!;
}

const last = new ReduceDataOptionsBuilder().calcs(['lastNotNull']);
const each = new ReduceDataOptionsBuilder().calcs([]).values(true);

// number shows one value, or one for each series.
export function number(title: string, unit: string, colours: Builder<ThresholdsConfig>, ...targets: Target[]): Stat {
  return new Stat()
    .title(title)
    .datasource(source(targets))
    .targets(lettered(targets))
    .unit(unit)
    .thresholds(colours)
    .colorMode(BigValueColorMode.Value)
    .graphMode(BigValueGraphMode.None)
    .reduceOptions(last)
    .height(4)
    .span(4);
}

// word shows text of a query's rows, each field of the first one.
export function word(title: string, ...targets: Target[]): Stat {
  return new Stat()
    .title(title)
    .datasource(source(targets))
    .targets(lettered(targets))
    .colorMode(BigValueColorMode.None)
    .graphMode(BigValueGraphMode.None)
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']).fields('/.*/').values(false))
    .height(4)
    .span(8);
}

// bars compares the last values of some series, or the rows of a table.
export function bars(title: string, unit: string, ...targets: Target[]): BarGauge {
  return new BarGauge()
    .title(title)
    .datasource(source(targets))
    .targets(lettered(targets))
    .unit(unit)
    .min(0)
    .displayMode(BarGaugeDisplayMode.Basic)
    .orientation(VizOrientation.Horizontal)
    .reduceOptions(source(targets) === clickhouse ? each : last)
    .height(8)
    .span(8);
}

// graph draws lines over time.
export function graph(title: string, unit: string, ...targets: Target[]): Timeseries {
  return new Timeseries()
    .title(title)
    .datasource(source(targets))
    .targets(lettered(targets))
    .unit(unit)
    .min(0)
    .fillOpacity(5)
    .showPoints(VisibilityMode.Auto)
    .legend(
      new VizLegendOptionsBuilder()
        .showLegend(true)
        .displayMode(LegendDisplayMode.Table)
        .placement(LegendPlacement.Right)
        .calcs(['lastNotNull', 'max']),
    )
    .tooltip(new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi).sort(SortOrder.Descending))
    .height(8)
    .span(12);
}

// limited is a graph with lines where alerts fire.
export const limited = (g: Timeseries, thresholds: Builder<ThresholdsConfig>): Timeseries =>
  g
    .thresholds(thresholds)
    .thresholdsStyle(new GraphThresholdsStyleConfigBuilder().mode(GraphThresholdsStyleMode.Dashed));

// stacked is a graph whose series add up.
export const stacked = (g: Timeseries): Timeseries =>
  g.fillOpacity(40).stacking(new StackingConfigBuilder().mode(StackingMode.Normal));

// columns is a graph of what is counted in each interval.
export const columns = (g: Timeseries): Timeseries => stacked(g).drawStyle(GraphDrawStyle.Bars);

// strip shows what something was, over time.
export function strip(title: string, ...targets: Target[]): StateTimeline {
  return new StateTimeline()
    .title(title)
    .datasource(source(targets))
    .targets(lettered(targets))
    .mergeValues(true)
    .showValue(VisibilityMode.Auto)
    .rowHeight(0.9)
    .mappings(states)
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Fixed).fixedColor('blue'))
    .height(5)
    .span(24);
}

// list is a table.
export function list(title: string, ...targets: Target[]): Table {
  return new Table()
    .title(title)
    .datasource(source(targets))
    .targets(lettered(targets))
    .filterable(true)
    .height(9)
    .span(24);
}

// raw shows lines of Loki.
export function raw(title: string, ...targets: Target[]): Logs {
  return new Logs()
    .title(title)
    .datasource(source(targets))
    .targets(lettered(targets))
    .showTime(true)
    .wrapLogMessage(true)
    .enableLogDetails(true)
    .showCommonLabels(false)
    .height(12)
    .span(24);
}

// Properties of a table's columns.
export const unit = (value: string): DynamicConfigValue => ({ id: 'unit', value });
export const width = (value: number): DynamicConfigValue => ({ id: 'custom.width', value });
export const hidden: DynamicConfigValue = { id: 'custom.hidden', value: true };
export const named = (value: string): DynamicConfigValue => ({ id: 'displayName', value });
export const opens = (...links: Builder<DashboardLink>[]): DynamicConfigValue => ({
  id: 'links',
  value: links.map((one) => one.build()),
});
export const coloured: DynamicConfigValue[] = [
  { id: 'mappings', value: [] as ValueMapping[] },
  { id: 'custom.cellOptions', value: { type: 'color-text' } },
];

const colour = (color: string) => ({ color });

// states have the same colours everywhere: what goes on is blue, what is well green, what is over grey, what is wrong red.
const states: ValueMapping[] = [
  {
    type: MappingType.ValueToText,
    options: {
      requested: colour('light-blue'),
      reserved: colour('blue'),
      provisioning: colour('dark-blue'),
      active: colour('green'),
      degraded: colour('orange'),
      canceling: colour('light-yellow'),
      releasing: colour('yellow'),
      canceled: colour('gray'),
      released: colour('gray'),
      failed: colour('red'),
      release_failed: colour('dark-red'),
      free: colour('green'),
      occupied: colour('blue'),
      cleanup: colour('yellow'),
      fenced: colour('red'),
      unknown: colour('gray'),
    },
  },
];
coloured[0]!.value = states;
