import { readFileSync } from 'node:fs';
import type { Builder, Dataquery } from '@grafana/grafana-foundation-sdk/cog';
import type { DataSourceRef } from '@grafana/grafana-foundation-sdk/common';
import { clickhouse } from './datasource.ts';

// How the plugin makes frames of rows (its src/data/utils.ts, mapQueryTypeToGrafanaFormat).
export const Format = { TimeSeries: 0, Table: 1 } as const;

// ClickHouseQuery is the query of grafana-clickhouse-datasource 4, CHSqlQuery in its src/types/sql.ts: the SDK has none.
export interface ClickHouseQuery {
  refId?: string;
  hide?: boolean;
  datasource: DataSourceRef;
  pluginVersion: string;
  editorType: 'sql';
  queryType: 'table' | 'timeseries';
  format: (typeof Format)[keyof typeof Format];
  rawSql: string;
  _implementsDataqueryVariant(): void;
}

// statement is a file of sql/, as it is.
export const statement = (name: string): string =>
  readFileSync(new URL(`sql/${name}.sql`, import.meta.url), 'utf8').trim();

// Sql builds the query of one file of sql/.
export class Sql implements Builder<Dataquery> {
  private readonly query: ClickHouseQuery;

  constructor(name: string, format: keyof typeof Format = 'Table') {
    this.query = {
      datasource: clickhouse,
      pluginVersion: '4.20.0',
      editorType: 'sql',
      queryType: format === 'Table' ? 'table' : 'timeseries',
      format: Format[format],
      rawSql: statement(name),
      _implementsDataqueryVariant() {},
    };
  }

  refId(refId: string): this {
    this.query.refId = refId;
    return this;
  }

  build(): ClickHouseQuery {
    return this.query;
  }
}
