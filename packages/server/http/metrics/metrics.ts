import http, { type ServerResponse } from 'node:http'
import { Counter, Gauge, type Metric, type MetricValueWithName, Registry } from 'prom-client'
import { type OnException, throwLater } from '../../core/on-exception.ts'
import { writeHead } from '../answer/write-head.ts'
import { RequestLines } from '../head/request-lines.ts'

/** A metric. `read` is called at each scrape, so that the metric costs nothing in between. */
export type Reading = ValueReading | HistogramReading

interface ValueReading {
  readonly name: string
  readonly help: string
  readonly kind: 'counter' | 'gauge'
  /** How the values of several worker processes are shown as one. Default: their sum. */
  readonly merge?: 'sum' | 'min' | 'max'
  /** Returns one value, one value for each value of a label, or one for each choice of several labels. */
  read():
    | number
    | { readonly label: string; readonly values: Readonly<Record<string, number>> }
    | { readonly labels: readonly string[]; readonly samples: readonly Sample[] }
}

interface Sample {
  readonly labels: Labels
  readonly value: number
}

interface HistogramReading {
  readonly name: string
  readonly help: string
  readonly kind: 'histogram'
  /** Upper bounds, ascending. */
  readonly bounds: readonly number[]
  read(): readonly HistogramSample[]
}

interface HistogramSample {
  readonly labels: Labels
  /** How many values each bucket has, without those of lower buckets. The last one is of values above all bounds. */
  readonly buckets: readonly number[]
  /** Of all values. */
  readonly sum: number
}

type Labels = Readonly<Record<string, string>>

export function createRegistry(readings: readonly Reading[]): Registry {
  const registry = new Registry()
  for (const reading of readings) register(registry, reading)
  return registry
}

/** Connections of scrapers, each of which gets one answer. */
const MAX_CONNECTIONS = 64
/** A connection that brings no request, or whose answer nobody reads, is closed after this long. */
const SILENT_MS = 10_000

/**
 * Creates the server for `GET /metrics` in Prometheus's text format. It needs its own listener: it has no
 * authentication. `merge`: adds the metrics of worker processes, see merged-metrics.ts.
 */
export function createMetricsServer(
  readings: readonly Reading[],
  onException: OnException = throwLater,
  merge: (own: Registry) => Promise<Registry> = async own => own,
): http.Server {
  const own = createRegistry(readings)
  let running: Promise<Scraped> | undefined
  /** Concurrent scrapes share one text. */
  const scrape = (): Promise<Scraped> => {
    running ??= toText(merge(own)).finally(() => {
      running = undefined
    })
    return running
  }
  const lines = new RequestLines((req, res) => {
    res.on('error', error => onException(error, 'the metrics'))
    res.shouldKeepAlive = false
    const path = (req.url ?? '/').split('?')[0]
    if (req.method !== 'GET' || path !== '/metrics') {
      writeHead(res, 404)
      res.end()
      return
    }
    answer(scrape(), res).catch(error => {
      onException(error, 'the metrics')
      if (!res.headersSent) writeHead(res, 500)
      res.end()
    })
  })
  const options = { headersTimeout: SILENT_MS, requestTimeout: SILENT_MS }
  const server = http.createServer(options, (req, res) => lines.add(req, res))
  server.maxConnections = MAX_CONNECTIONS
  server.timeout = SILENT_MS
  return server
}

interface Scraped {
  readonly text: string
  readonly contentType: string
}

async function toText(shown: Promise<Registry>): Promise<Scraped> {
  const registry = await shown
  return { text: await registry.metrics(), contentType: registry.contentType }
}

async function answer(scraped: Promise<Scraped>, res: ServerResponse): Promise<void> {
  const { text, contentType } = await scraped
  writeHead(res, 200, ['Content-Type', contentType])
  res.end(text)
}

function register(registry: Registry, reading: Reading): void {
  if (reading.kind === 'histogram') {
    // The histograms of prom-client count by themselves, and cannot show what was counted elsewhere.
    registry.registerMetric(toHistogram(reading) as unknown as Metric)
    return
  }
  const { name, help, kind, read, merge = 'sum' } = reading
  const labelNames = listLabels(read())
  const common = { name, help, labelNames, registers: [registry], aggregator: merge }
  if (kind === 'gauge') {
    new Gauge({
      ...common,
      collect() {
        for (const [labels, now] of valuesOf(read())) this.set(labels, now)
      },
    })
    return
  }
  new Counter({
    ...common,
    collect() {
      this.reset()
      for (const [labels, now] of valuesOf(read())) this.inc(labels, now)
    },
  })
}

function listLabels(value: ReturnType<ValueReading['read']>): string[] {
  if (typeof value === 'number') return []
  return 'label' in value ? [value.label] : [...value.labels]
}

function valuesOf(value: ReturnType<ValueReading['read']>): [Record<string, string>, number][] {
  if (typeof value === 'number') return [[{}, value]]
  if ('samples' in value) return value.samples.map(({ labels, value: number }) => [labels, number])
  return Object.entries(value.values).map(([label, number]) => [{ [value.label]: label }, number])
}

function toHistogram({ name, help, bounds, read }: HistogramReading): object {
  const common = { name, help, type: 'histogram', aggregator: 'sum' }
  return {
    ...common,
    get: async () => ({ ...common, values: read().flatMap(sample => toValues(name, bounds, sample)) }),
  }
}

/** Returns the lines of one histogram, of which each bucket includes those below it. */
function toValues(
  name: string,
  bounds: readonly number[],
  { labels, buckets, sum }: HistogramSample,
): MetricValueWithName<string>[] {
  let count = 0
  const values = buckets.map((inBucket, at) => {
    count += inBucket
    return {
      metricName: `${name}_bucket`,
      labels: { ...labels, le: String(bounds[at] ?? '+Inf') },
      value: count,
    }
  })
  return [
    ...values,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ]
}
