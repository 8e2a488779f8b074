import * as units from '@grafana/grafana-foundation-sdk/units';
import type { Described } from './dashboard.ts';
import { toPage } from './link.ts';
import { bars, columns, graph, limited, list, number, unit } from './panel.ts';
import { now, over, quantile, rates, series, table, told, worst } from './query.ts';
import { as, below, down } from './threshold.ts';

const queueShare = `max by (instance, exporter, data_type) (${told('otelcol_exporter_queue_size')} / ${told('otelcol_exporter_queue_capacity')})`;
const jobs = 'job=~"faultline.*"';

export const pipeline: Described = {
  name: 'pipeline',
  title: 'Pipeline',
  answers: 'Whether telemetry arrives, how late, how much of it can be attributed, and what all of it costs.',
  page: '/ui/sources',
  variables: [],
  rows: [
    [
      'Now',
      [
        number('Up', units.NoUnit, down(), now(`min by (job) (${told('up', jobs)})`, '{{job}}')).span(6),
        number(
          'Verdicts behind',
          units.Seconds,
          as(['FaultlineCorrelatorBehind']),
          now(`min(${told('faultline_overview_judging_behind_seconds')})`, 'behind'),
        ).span(3),
        number(
          'Store not read for',
          units.Seconds,
          as(['FaultlineOverviewWaits']),
          now(worst('faultline_overview_look_age_seconds'), 'look'),
        ).span(3),
        number(
          'Fullest queue',
          units.PercentUnit,
          as(['FaultlineQueueFills']),
          now(`max(${queueShare})`, 'queue'),
        ).span(3),
        number(
          'Oldest message of the outbox',
          units.Seconds,
          as(['FaultlineOutboxLag']),
          now(worst('faultline_provisioner_outbox_oldest_age_seconds'), 'outbox'),
        ).span(3),
        number(
          'Dead messages',
          units.Short,
          as(['FaultlineOutboxDead']),
          now(worst('faultline_provisioner_outbox_unsent_messages', [], 'state="dead"'), 'dead'),
        ).span(3),
        number(
          'Rules that panicked',
          units.Short,
          as(['FaultlineRulePanics']),
          now(`sum(increase(${told('faultline_judging_rule_panics_total')}[15m])) or vector(0)`, 'panics'),
        ).span(3),
        bars(
          'Days until certificates expire',
          units.Days,
          now(
            `(min by (job, certificate) (${told('faultline_certificate_expiry_timestamp_seconds')}) - time()) / 86400`,
            '{{job}} {{certificate}}',
          ),
        )
          .thresholds(below('FaultlineCertificateNearExpiry'))
          .noValue('no process shows one')
          .height(5)
          .span(24),
      ],
    ],
    [
      'Lag',
      [
        graph(
          'From source to store',
          units.Seconds,
          over(worst('faultline_source_lag_seconds', ['source']), '{{source}}'),
        ),
        graph(
          'From store to verdict',
          units.Seconds,
          over(quantile(0.5, 'faultline_judging_judged_seconds'), 'p50 judged'),
          over(quantile(0.99, 'faultline_judging_judged_seconds'), 'p99 judged'),
          over(quantile(0.99, 'faultline_judging_lag_seconds'), 'p99 verdict kept'),
        ),
        limited(
          graph('Clocks ahead', units.Seconds, over(worst('faultline_source_ahead_seconds', ['source']), '{{source}}')),
          as(['FaultlineClockAhead']),
        ),
        graph(
          'Silence by source',
          units.Seconds,
          over(worst('faultline_source_silence_seconds', ['source']), '{{source}}'),
        ).links([toPage('Sources in the page', '/ui/sources')]),
      ],
    ],
    [
      'Queues and losses',
      [
        graph(
          'Through the Collectors',
          units.CountsPerSecond,
          over(rates('otelcol_receiver_accepted_log_records', ['job']), 'log records into {{job}}'),
          over(rates('otelcol_receiver_accepted_spans', ['job']), 'spans into {{job}}'),
          over(rates('otelcol_exporter_sent_log_records', ['exporter']), 'log records to {{exporter}}'),
          over(rates('otelcol_exporter_sent_spans', ['exporter']), 'spans to {{exporter}}'),
        ).span(24),
        limited(
          graph('Queues on disk', units.PercentUnit, over(queueShare, '{{exporter}} {{data_type}} {{instance}}')),
          as(['FaultlineQueueFills']),
        ),
        limited(
          graph(
            'Refused: the sender keeps it',
            units.CountsPerSecond,
            over(rates('otelcol_receiver_refused_log_records', ['instance']), 'log records {{instance}}'),
            over(rates('otelcol_receiver_refused_spans', ['instance']), 'spans {{instance}}'),
            over(rates('otelcol_exporter_enqueue_failed_log_records', ['instance']), 'queue, log records {{instance}}'),
            over(rates('otelcol_exporter_enqueue_failed_spans', ['instance']), 'queue, spans {{instance}}'),
          ),
          as(['FaultlineRefusesData'], 'rate'),
        ),
        limited(
          graph(
            'Lost',
            units.CountsPerSecond,
            over(rates('otelcol_exporter_send_failed_log_records', ['instance']), 'log records {{instance}}'),
            over(rates('otelcol_exporter_send_failed_spans', ['instance']), 'spans {{instance}}'),
            over(rates('faultline_exporter_rows_dropped_total', ['instance']), 'rows {{instance}}'),
            over(
              rates('faultline_provisioner_telemetry_dropped_records_total', ['instance']),
              "provisioner's {{instance}}",
            ),
          ),
          as(['FaultlineLosesData'], 'rate'),
        ),
        limited(
          graph(
            'Inserts that fail',
            units.CountsPerSecond,
            over(rates('faultline_exporter_insert_failures_total'), 'failures'),
          ),
          as(['FaultlineInsertsFail']),
        ),
      ],
    ],
    [
      'Coverage',
      [
        graph(
          'Records that carry an identifier',
          units.PercentUnit,
          over(worst('faultline_source_coverage_ratio', ['source', 'identifier']), '{{source}} {{identifier}}'),
        )
          .max(1)
          .description('Of the last five minutes. An alert compares each with what was usual.'),
        graph(
          'Records of which nobody knows whose they are',
          units.PercentUnit,
          over(worst('faultline_source_unresolved_ratio', ['source']), '{{source}}'),
        ).max(1),
        graph(
          'Resolved in passing, by how',
          units.CountsPerSecond,
          over(rates('faultline_identity_resolved_total', ['via']), '{{via}}'),
        ),
        graph(
          'Not resolved, and resolved late',
          units.CountsPerSecond,
          over(rates('faultline_identity_unresolved_total'), 'unresolved'),
          over(rates('faultline_identity_conflicts_total'), 'conflicts'),
          over(rates('faultline_identity_late_links_total'), 'late links'),
        ),
        graph(
          'How late links come',
          units.Seconds,
          over(quantile(0.5, 'faultline_identity_late_link_delay_seconds'), 'p50'),
          over(quantile(0.99, 'faultline_identity_late_link_delay_seconds'), 'p99'),
        ),
        graph(
          'Links read from the store: lag',
          units.Seconds,
          over(worst('faultline_linkstore_lag_seconds', ['instance']), '{{instance}}'),
        ),
      ],
    ],
    [
      'Cost',
      [
        columns(graph('Records by source', units.Short, series('pipeline_records'))),
        graph(
          'Rows',
          units.RowsPerSecond,
          over(rates('faultline_exporter_rows_total'), 'records taken'),
          over(rates('faultline_store_written_rows_total'), 'rows written'),
          over(rates('faultline_store_read_rows_total'), 'rows read'),
        ),
        graph(
          'CPU',
          units.Short,
          over(rates('process_cpu_seconds_total', ['job'], jobs), '{{job}}'),
          over(rates('otelcol_process_cpu_seconds', ['job'], jobs), '{{job}}'),
        ).description('Cores; the Collector has names of its own.'),
        graph(
          'Memory',
          units.BytesIEC,
          over(`sum by (job) (${told('process_resident_memory_bytes', jobs)})`, '{{job}}'),
          over(`sum by (job) (${told('otelcol_process_memory_rss', jobs)})`, '{{job}}'),
        ),
        graph(
          'Statements of the store',
          units.Seconds,
          over(quantile(0.5, 'faultline_store_statement_seconds'), 'p50'),
          over(quantile(0.99, 'faultline_store_statement_seconds'), 'p99'),
        ),
        graph(
          'Answers of the API, p99',
          units.Seconds,
          over(quantile(0.99, 'faultline_api_request_duration_seconds', ['route']), '{{route}}'),
        ),
        list('What the store keeps', table('pipeline_tables'))
          .overrideByName('kept_rows', [unit(units.Short)])
          .overrideByName('bytes', [unit(units.BytesIEC)])
          .overrideByName('bytes_per_row', [unit(units.BytesIEC)])
          .overrideByName('parts', [unit(units.Short)]),
      ],
    ],
  ],
};
