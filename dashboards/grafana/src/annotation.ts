import { AnnotationQueryBuilder } from '@grafana/grafana-foundation-sdk/dashboard';
import { clickhouse, prometheus } from './datasource.ts';
import { fleet, over, table } from './query.ts';

// Stretches of time in which a layer has open incidents.
export const incidents = (): AnnotationQueryBuilder => {
  const expr = `${fleet('faultline_fleet_open_incidents', ['layer', 'owner'])} > 0`;
  return new AnnotationQueryBuilder()
    .name('Incidents')
    .datasource(prometheus)
    .enable(true)
    .iconColor('red')
    .expr(expr)
    .step('30s')
    .target(over(expr, '').refId('Incidents'))
    .titleFormat('Incident: {{layer}}')
    .textFormat('Owner: {{owner}}')
    .tagKeys('layer,owner');
};

// Moments at which the verdict on the chosen allocation changed.
export const verdicts = (): AnnotationQueryBuilder =>
  new AnnotationQueryBuilder()
    .name('Verdicts')
    .datasource(clickhouse)
    .enable(true)
    .iconColor('purple')
    .target(table('allocation_annotation').refId('Verdicts'));
