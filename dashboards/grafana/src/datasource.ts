import type { DataSourceRef } from '@grafana/grafana-foundation-sdk/common';

// The three data sources, by uids that provisioning/datasources gives them and that never change.
export const prometheus: DataSourceRef = { type: 'prometheus', uid: 'faultline-prometheus' };
export const clickhouse: DataSourceRef = { type: 'grafana-clickhouse-datasource', uid: 'faultline-clickhouse' };
export const loki: DataSourceRef = { type: 'loki', uid: 'faultline-loki' };
