import http, { type ServerResponse } from 'node:http'
import { Counter, Gauge, Registry } from 'prom-client'
import { type OnException, throwLater } from '../core/on-exception.ts'
import { writeHead } from './write-head.ts'

/** A metric. `read` is called at each scrape, so that the metric costs nothing in between. */
export interface Reading {
  readonly name: string
  readonly help: string
  readonly kind: 'counter' | 'gauge'
  /** Returns one value, or one value for each value of a label. */
  read(): number | { readonly label: string; readonly values: Readonly<Record<string, number>> }
}

/**
 * Creates the server for `GET /metrics` in Prometheus's text format. It needs its own listener: it has no
 * authentication.
 */
export function createMetricsServer(
  readings: readonly Reading[],
  onException: OnException = throwLater,
): http.Server {
  const registry = new Registry()
  for (const reading of readings) register(registry, reading)
  return http.createServer((req, res) => {
    res.on('error', error => onException(error, 'the metrics'))
    const path = (req.url ?? '/').split('?')[0]
    if (req.method !== 'GET' || path !== '/metrics') {
      writeHead(res, 404)
      res.end()
      return
    }
    answer(registry, res).catch(error => {
      onException(error, 'the metrics')
      if (!res.headersSent) writeHead(res, 500)
      res.end()
    })
  })
}

async function answer(registry: Registry, res: ServerResponse): Promise<void> {
  const text = await registry.metrics()
  writeHead(res, 200, ['Content-Type', registry.contentType])
  res.end(text)
}

function register(registry: Registry, { name, help, kind, read }: Reading): void {
  const value = read()
  const labelNames = typeof value === 'number' ? [] : [value.label]
  const common = { name, help, labelNames, registers: [registry] }
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
