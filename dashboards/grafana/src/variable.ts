import {
  CustomVariableBuilder,
  QueryVariableBuilder,
  VariableHide,
  VariableRefresh,
  VariableSort,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { statement } from './clickhouse.ts';
import { clickhouse, loki, prometheus } from './datasource.ts';

const all = { selected: true, text: 'All', value: '$__all' };

// ofMetric are the values of a label of a metric.
const ofMetric = (name: string, label: string, metric: string): QueryVariableBuilder =>
  new QueryVariableBuilder(name)
    .label(name)
    .datasource(prometheus)
    .query({ qryType: 1, query: `label_values(${metric}, ${label})`, refId: name })
    .definition(`label_values(${metric}, ${label})`)
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.AlphabeticalAsc);

// ofStore are the rows of one file of sql/; what is not among them can be typed.
const ofStore = (name: string, sql: string): QueryVariableBuilder =>
  new QueryVariableBuilder(name)
    .label(name)
    .datasource(clickhouse)
    .query(statement(sql))
    .definition(sql)
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.Disabled)
    .allowCustomValue(true);

// ofLoki are the values of a label of Loki's streams.
const ofLoki = (name: string, label: string, allValue: string): QueryVariableBuilder =>
  new QueryVariableBuilder(name)
    .label(name)
    .datasource(loki)
    .query({ type: 1, label, stream: '', refId: name })
    .definition(`label_values(${label})`)
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.AlphabeticalAsc)
    .includeAll(true)
    .allValue(allValue)
    .current(all);

// Which deployment: the label that whoever scrapes or sends puts on. All also takes what has no such label.
export const environment = (): QueryVariableBuilder =>
  ofMetric('environment', 'environment', 'faultline_page_info').includeAll(true).allValue('.*').current(all);

// Where people find the page: the correlator tells it, the first wins.
export const page = (): QueryVariableBuilder =>
  ofMetric('page', 'url', 'faultline_page_info{environment=~"$environment"}').hide(VariableHide.HideVariable);

export const layer = (): QueryVariableBuilder =>
  ofMetric('layer', 'layer', 'faultline_layer_blamed_allocations{environment=~"$environment"}')
    .multi(true)
    .includeAll(true)
    .current(all);

export const provider = (): QueryVariableBuilder =>
  ofMetric('provider', 'provider', 'faultline_fleet_provider_allocations{environment=~"$environment"}')
    .multi(true)
    .includeAll(true)
    .current(all);

export const operation = (): CustomVariableBuilder =>
  new CustomVariableBuilder('operation')
    .label('operation')
    .values('provision,release,reimage')
    .current({ selected: true, text: 'provision', value: 'provision' });

export const allocation = (): QueryVariableBuilder => ofStore('allocation_id', 'allocations');
export const node = (): QueryVariableBuilder => ofStore('node_id', 'nodes');
export const nodeInstance = (): QueryVariableBuilder => ofStore('node_instance_id', 'instances_of_node');

// Which streams of Loki; one condition must not match what is empty, or Loki refuses the query.
export const cluster = (): QueryVariableBuilder => ofLoki('cluster', 'cluster', '.*');
export const service = (): QueryVariableBuilder => ofLoki('service', 'service_name', '.+').multi(true);
