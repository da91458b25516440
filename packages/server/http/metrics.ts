import http, { type ServerResponse } from 'node:http'
import { Counter, Gauge, Registry } from 'prom-client'
import { type OnException, throwLater } from '../core/on-exception.ts'
import { writeHead } from './write-head.ts'

/** A metric. `read` is called at each scrape, so that the metric costs nothing in between. */
export interface Reading {
  readonly name: string
  readonly help: string
  readonly kind: 'counter' | 'gauge'
  /** How the values of several worker processes are shown as one. Default: their sum. */
  readonly merge?: 'sum' | 'min' | 'max'
  /** Returns one value, or one value for each value of a label. */
  read(): number | { readonly label: string; readonly values: Readonly<Record<string, number>> }
}

export function createRegistry(readings: readonly Reading[]): Registry {
  const registry = new Registry()
  for (const reading of readings) register(registry, reading)
  return registry
}

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
  return http.createServer((req, res) => {
    res.on('error', error => onException(error, 'the metrics'))
    const path = (req.url ?? '/').split('?')[0]
    if (req.method !== 'GET' || path !== '/metrics') {
      writeHead(res, 404)
      res.end()
      return
    }
    answer(merge(own), res).catch(error => {
      onException(error, 'the metrics')
      if (!res.headersSent) writeHead(res, 500)
      res.end()
    })
  })
}

async function answer(shown: Promise<Registry>, res: ServerResponse): Promise<void> {
  const registry = await shown
  const text = await registry.metrics()
  writeHead(res, 200, ['Content-Type', registry.contentType])
  res.end(text)
}

function register(registry: Registry, { name, help, kind, read, merge = 'sum' }: Reading): void {
  const value = read()
  const labelNames = typeof value === 'number' ? [] : [value.label]
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

function valuesOf(value: ReturnType<Reading['read']>): [Record<string, string>, number][] {
  if (typeof value === 'number') return [[{}, value]]
  return Object.entries(value.values).map(([label, number]) => [{ [value.label]: label }, number])
}
