import { REFUSAL_REASONS } from '../../core/admission/refusal-counter.ts'
import type { OnException } from '../../core/on-exception.ts'
import type { Circuits } from '../../gateway/attempts/circuits.ts'
import type { ProviderCounts } from '../../gateway/attempts/provider-counts.ts'
import type { FrontDoor } from '../../gateway/edge/front-door.ts'
import type { RequestCounts } from '../../gateway/edge/request-counts.ts'
import type { Idempotency } from '../../gateway/idempotency/idempotency.ts'
import type { RunningRequests } from '../../gateway/request/running-requests.ts'
import type { SendTimeouts } from '../../http/answer/send-timeouts.ts'
import type { ConnectionLimits } from '../../http/fairness/connection-limits.ts'
import { listen } from '../../http/head/listen.ts'
import { createMetricsServer, type Reading } from '../../http/metrics/metrics.ts'
import type { OpenedLedger } from '../../ledger/failover/open-ledger.ts'
import type { Tracing } from '../../tracing/open-tracing.ts'
import type { Exceptions } from '../process/exceptions.ts'
import { listProviderReadings } from './provider-readings.ts'
import type { RecordCounts, Records } from './records.ts'

export interface MetricsSources {
  readonly requestCounts: RequestCounts
  readonly runningRequests: RunningRequests
  readonly records: Pick<Records, 'drain' | 'recordCounts'>
  readonly getReadiness: () => { readonly ready: boolean }
  readonly counting: OpenedLedger
  readonly exceptions: Exceptions
  readonly sendTimeouts: Pick<SendTimeouts, 'count'>
  readonly frontDoor: Pick<FrontDoor, 'process' | 'refusals' | 'unread'>
  readonly connections: Pick<ConnectionLimits, 'open' | 'refused'>
  readonly circuits: Pick<Circuits, 'countOpen' | 'openings' | 'skips'>
  readonly providerCounts: Pick<ProviderCounts, 'all'>
  readonly idempotency: Pick<Idempotency, 'replays'>
  /** undefined: traces are off, and have no metric. */
  readonly tracing: Pick<Tracing, 'counts'> | undefined
}

export interface MetricsOptions {
  readonly host: string
  /** undefined: METRICS_PORT, and no metrics if that port is taken. */
  readonly port: number | undefined
  readonly log: { warn(line: string): void }
  readonly onException: OnException
  readonly readings: readonly Reading[]
  /** Adds the metrics of workers. */
  readonly merge?: Parameters<typeof createMetricsServer>[2]
}

export interface Metrics {
  /** undefined: the default port is taken. */
  readonly url: string | undefined
  close(): void
}

const METRICS_PORT = 8789

/** Starts the server of `/metrics`. If no port is set and the default one is taken, it only logs a warning. */
export async function openMetrics(options: MetricsOptions): Promise<Metrics> {
  const { host, port, log, onException, readings, merge } = options
  const server = createMetricsServer(readings, onException, merge)
  const onError = (error: Error): void => onException(error, 'the listener of the metrics')
  const close = (): void => {
    server.close()
    server.closeAllConnections()
  }
  try {
    return { url: await listen(server, host, port ?? METRICS_PORT, onError), close }
  } catch (error) {
    if (port !== undefined || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    log.warn(`metrics are not served: port ${METRICS_PORT} is taken (RIDEAU_METRICS_PORT sets another)`)
    return { url: undefined, close }
  }
}

/** Returns the metrics of a gateway process. Each value is read at the scrape. */
export function listReadings(measured: MetricsSources): Reading[] {
  const { requestCounts, runningRequests, records, getReadiness, counting, exceptions } = measured
  const { ledger, countReservations, countLocalAdmissions } = counting
  return [
    {
      name: 'rideau_requests_total',
      help: 'Requests answered, by the class of their status.',
      kind: 'counter',
      read: () => ({
        label: 'status',
        values: {
          '2xx': requestCounts.of(2),
          '4xx': requestCounts.of(4),
          '5xx': requestCounts.of(5),
        },
      }),
    },
    gauge(
      'rideau_requests_in_flight',
      'Running requests of routes that call a provider.',
      () => runningRequests.size,
    ),
    gauge('rideau_ready', '1 if /readyz answers 200.', () => Number(getReadiness().ready), 'min'),
    gauge('rideau_journal_backlog', 'Usage records that are not yet in PostgreSQL.', () =>
      records.drain.backlog(),
    ),
    ...listRecordReadings(measured),
    ...listFrontDoorReadings(measured),
    ...listCircuitReadings(measured),
    ...listProviderReadings(measured.providerCounts),
    counter(
      'rideau_replays_total',
      'Requests answered with the answer of an earlier one by their Idempotency-Key. They leave no record.',
      () => measured.idempotency.replays,
    ),
    gauge(
      'rideau_limits_whole',
      '1 if limits are counted as configured; 0 while shared counting is lost.',
      () => Number(ledger.health().isHealthy),
      'min',
    ),
    gauge('rideau_limits_holds', 'Requests of this process with a reservation.', countReservations),
    {
      name: 'rideau_limits_alone_total',
      help: 'Requests that this process counted by itself while shared counting was lost.',
      kind: 'counter',
      read: countLocalAdmissions,
    },
    counter(
      'rideau_send_timeouts_total',
      'Connections that were closed because their caller did not read.',
      () => measured.sendTimeouts.count,
    ),
    ...listTraceReadings(measured),
    ...listProcessReadings(exceptions),
  ]
}

function listTraceReadings({ tracing }: MetricsSources): Reading[] {
  if (tracing === undefined) return []
  const { counts } = tracing
  return [
    {
      name: 'rideau_trace_spans_total',
      help: 'Spans of traces by their end: exported, failed (the collector did not take them), dropped (the queue was full).',
      kind: 'counter',
      read: () => ({ label: 'outcome', values: { ...counts } }),
    },
  ]
}

/** Returns the metrics of any process, with or without a gateway. */
export function listProcessReadings(exceptions: Exceptions): Reading[] {
  return [
    {
      name: 'rideau_exceptions_total',
      help: 'Exceptions that no caller waited for, by where they were caught. Each is an alarm in the log.',
      kind: 'counter',
      read: () => ({ label: 'kind', values: { ...exceptions.counts } }),
    },
    gauge('process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss()),
    {
      name: 'process_cpu_seconds_total',
      help: 'CPU time, user and system.',
      kind: 'counter',
      read: () => {
        const { user, system } = process.cpuUsage()
        return (user + system) / 1e6
      },
    },
  ]
}

/** Returns the metrics of records that were not stored as they were. The first two need an operator if they are above 0. */
function listRecordReadings({ records }: MetricsSources): Reading[] {
  return [
    ...listStoreReadings(records.recordCounts),
    counter(
      'rideau_records_shed_total',
      'Requests that cost nothing and left no record, because the journal was nearly full. Bodies and metadata that records lack for that reason are not counted.',
      records.recordCounts.shed,
    ),
  ]
}

export function listStoreReadings({
  setAside,
  reduced,
}: Pick<RecordCounts, 'setAside' | 'reduced'>): Reading[] {
  return [
    counter(
      'rideau_records_set_aside_total',
      'Usage records that PostgreSQL refuses in any form, kept in refused-records.jsonl.',
      setAside,
    ),
    counter(
      'rideau_records_reduced_total',
      'Usage records that PostgreSQL refused at first, stored without their texts.',
      reduced,
    ),
  ]
}

/** Returns the metrics of what is open in this process, and of what was refused before its body was read. */
function listFrontDoorReadings({ frontDoor, connections }: MetricsSources): Reading[] {
  const { process, refusals, unread } = frontDoor
  return [
    gauge('rideau_requests_open', 'Requests of callers that are open.', () => process.requests.used),
    gauge('rideau_body_bytes', 'Bytes of request bodies in memory.', () => process.bytes.used),
    gauge(
      'rideau_answer_bytes',
      'Bytes of answers that arrive from providers or wait to be read by their callers.',
      () => process.answers.used,
    ),
    counter(
      'rideau_unread_answers_dropped_total',
      'Connections closed because a caller left too many bytes of answers unread.',
      () => unread.dropped,
    ),
    {
      name: 'rideau_front_door_refused_total',
      help: 'Requests refused before their body was read, by reason. They leave no record.',
      kind: 'counter',
      read: () => ({
        label: 'reason',
        values: Object.fromEntries(REFUSAL_REASONS.map(reason => [reason, refusals.of(reason)])),
      }),
    },
    gauge('rideau_connections_open', 'Open connections of callers to the gateway.', () => connections.open),
    counter(
      'rideau_connections_refused_total',
      'Connections to the gateway closed at once, because too many were open.',
      () => connections.refused,
    ),
  ]
}

function listCircuitReadings({ circuits }: MetricsSources): Reading[] {
  return [
    gauge(
      'rideau_circuits_open',
      'Open circuits that this process knows.',
      () => circuits.countOpen(),
      'max',
    ),
    counter('rideau_circuit_openings_total', 'Circuits that this process opened.', () => circuits.openings),
    counter(
      'rideau_circuit_skips_total',
      'Targets and credentials passed over, because their circuit was open or they rested.',
      () => circuits.skips,
    ),
  ]
}

function counter(name: string, help: string, read: () => number): Reading {
  return { name, help, kind: 'counter', read }
}

function gauge(name: string, help: string, read: () => number, merge?: 'sum' | 'min' | 'max'): Reading {
  return { name, help, kind: 'gauge', read, ...(merge === undefined ? {} : { merge }) }
}
