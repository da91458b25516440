import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue, type Registry } from 'prom-client'

/** The metrics of one process, as JSON. */
export type ProcessMetrics = MetricObjectWithValues<MetricValue<string>>[]

/**
 * Shows the metrics of the supervisor and its workers as those of one process. A worker that does not answer is shown as it
 * was last. The counters and histograms of one that has ended stay in the sums, since they never decrease.
 */
export class MergedMetrics {
  readonly #collect: () => Promise<ReadonlyMap<string, ProcessMetrics>>
  /** By the names of the workers. */
  readonly #last = new Map<string, ProcessMetrics>()
  /** The sums of the counters and histograms of the workers that have ended, by their names. */
  readonly #ended = new Map<string, ProcessMetrics[number]>()

  /** `collect` asks all workers for their metrics. */
  constructor(collect: () => Promise<ReadonlyMap<string, ProcessMetrics>>) {
    this.#collect = collect
  }

  /** Adds those of the workers to the supervisor's own. */
  async merge(own: Registry): Promise<Registry> {
    const [metrics, collected] = await Promise.all([own.getMetricsAsJSON(), this.#collect()])
    for (const [worker, metrics] of collected) this.#last.set(worker, metrics)
    return AggregatorRegistry.aggregate([metrics, [...this.#ended.values()], ...this.#last.values()])
  }

  /** The process of a worker has ended. `last`: what it said of itself at its end, if it was not killed. */
  noteEnded(worker: string, last?: ProcessMetrics): void {
    const metrics = last ?? this.#last.get(worker) ?? []
    this.#last.delete(worker)
    for (const metric of metrics) {
      if (!neverDecreases(metric.type)) continue
      const values = [...(this.#ended.get(metric.name)?.values ?? []), ...metric.values]
      this.#ended.set(metric.name, { ...metric, values: sumByLabels(values) })
    }
  }
}

/** prom-client declares the type as a number, and gives it as a text. */
function neverDecreases(type: unknown): boolean {
  return type === 'counter' || type === 'histogram'
}

function sumByLabels(values: readonly MetricValue<string>[]): MetricValue<string>[] {
  const sums = new Map<string, MetricValue<string>>()
  for (const value of values) {
    const key = JSON.stringify([nameOf(value), value.labels])
    sums.set(key, { ...value, value: value.value + (sums.get(key)?.value ?? 0) })
  }
  return [...sums.values()]
}

/** A histogram has values of several names. */
function nameOf(value: MetricValue<string> & { readonly metricName?: string }): string | undefined {
  return value.metricName
}
