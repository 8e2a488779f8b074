import { DataqueryBuilder as Loki } from '@grafana/grafana-foundation-sdk/loki';
import { DataqueryBuilder as Prometheus } from '@grafana/grafana-foundation-sdk/prometheus';
import { Sql } from './clickhouse.ts';
import { loki, prometheus } from './datasource.ts';

// here narrows a metric to what the variables choose; a series without the label counts as any environment.
const here = (labels = ''): string => `{environment=~"$environment"${labels && `, ${labels}`}}`;

const list = (names: string[]): string => names.join(', ');

// fleet reads a gauge of the fleet. Each of several correlators says the same: the maximum over them, then the sum over environments.
export function fleet(metric: string, by: string[], without: string[] = [], labels = ''): string {
  const one = `${metric}${here(labels)}`;
  const summed = without.length === 0 ? one : `sum without (${list(without)}) (${one})`;
  return `sum by (${list(by)}) (max by (${list(['environment', ...by])}) (${summed}))`;
}

// flow is a counter of the fleet, per second.
export function flow(metric: string, by: string[], without: string[] = [], labels = ''): string {
  const one = `rate(${metric}${here(labels)}[$__rate_interval])`;
  const summed = without.length === 0 ? one : `sum without (${list(without)}) (${one})`;
  return `sum by (${list(by)}) (max by (${list(['environment', ...by])}) (${summed}))`;
}

// worst is the largest value of a gauge.
export const worst = (metric: string, by: string[] = [], labels = ''): string =>
  by.length === 0 ? `max(${metric}${here(labels)})` : `max by (${list(by)}) (${metric}${here(labels)})`;

// rates are counters of processes, which add up.
export const rates = (metric: string, by: string[] = [], labels = ''): string =>
  `sum${by.length === 0 ? '' : ` by (${list(by)})`} (rate(${metric}${here(labels)}[$__rate_interval]))`;

// told is a gauge of processes as it is.
export const told = (metric: string, labels = ''): string => `${metric}${here(labels)}`;

// quantile of a histogram that every correlator counts alike: the maximum over them.
export const fleetQuantile = (
  q: number,
  histogram: string,
  by: string[],
  labels = '',
  range = '$__rate_interval',
): string =>
  `histogram_quantile(${q}, max by (${list([...by, 'le'])}) (rate(${histogram}_bucket${here(labels)}[${range}])))`;

// quantile of a histogram of processes that each do their own work: the sum over them.
export const quantile = (q: number, histogram: string, by: string[] = [], labels = ''): string =>
  `histogram_quantile(${q}, sum by (${list([...by, 'le'])}) (rate(${histogram}_bucket${here(labels)}[$__rate_interval])))`;

// over draws an expression over time.
export const over = (expr: string, legend: string): Prometheus =>
  new Prometheus().datasource(prometheus).expr(expr).legendFormat(legend).range();

// now asks for the last value alone.
export const now = (expr: string, legend: string): Prometheus =>
  new Prometheus().datasource(prometheus).expr(expr).legendFormat(legend).instant();

// table and series ask the store for one file of sql/.
export const table = (name: string): Sql => new Sql(name);
export const series = (name: string): Sql => new Sql(name, 'TimeSeries');

// Lines of Loki: few labels choose the streams, structured metadata the lines.
const streams = '{service_name=~"${service:regex}", environment=~"$environment", cluster=~"$cluster"}';

export const lines = (identifier: string, variable: string): Loki =>
  new Loki()
    .datasource(loki)
    .expr(`${streams} | ${identifier}=\${${variable}:doublequote}`)
    .queryType('range')
    .maxLines(1000);

// lineCount counts them by severity.
export const lineCount = (identifier: string, variable: string): Loki =>
  new Loki()
    .datasource(loki)
    .expr(`sum by (severity) (count_over_time(${streams} | ${identifier}=\${${variable}:doublequote} [$__auto]))`)
    .legendFormat('{{severity}}')
    .queryType('range');
