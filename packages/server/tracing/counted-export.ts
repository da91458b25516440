import type { ReadableSpan, SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace'

type OnResult = Parameters<SpanExporter['export']>[1]

export interface SpanCounts {
  /** Taken by the collector. */
  exported: number
  /** The collector did not take them in time, or at all. */
  failed: number
  /** Not queued, because the queue was full. */
  dropped: number
}

/** The values of OpenTelemetry's ExportResultCode and TraceFlags. */
const SUCCESS = 0
const SAMPLED = 1

/**
 * Stands before the processor that batches spans and before the exporter that it calls, since neither counts what it loses. It
 * bounds the queue of both.
 */
export class CountedExport {
  readonly counts: SpanCounts = { exported: 0, failed: 0, dropped: 0 }
  /** Spans in the queue. */
  #waiting = 0
  readonly #maxWaiting: number
  readonly #onFailure: (error: Error | undefined) => void

  constructor(maxWaiting: number, onFailure: (error: Error | undefined) => void) {
    this.#maxWaiting = maxWaiting
    this.#onFailure = onFailure
  }

  exporter(exporter: SpanExporter): SpanExporter {
    return {
      export: (spans, onResult) => this.#export(exporter, spans, onResult),
      shutdown: () => exporter.shutdown(),
    }
  }

  processor(processor: SpanProcessor): SpanProcessor {
    return {
      onStart: (span, context) => processor.onStart(span, context),
      onEnd: span => this.#queue(processor, span),
      forceFlush: () => processor.forceFlush(),
      shutdown: () => processor.shutdown(),
    }
  }

  #queue(processor: SpanProcessor, span: ReadableSpan): void {
    if ((span.spanContext().traceFlags & SAMPLED) === 0) return
    if (this.#waiting >= this.#maxWaiting) {
      this.counts.dropped++
      return
    }
    this.#waiting++
    processor.onEnd(span)
  }

  #export(exporter: SpanExporter, spans: ReadableSpan[], onResult: OnResult): void {
    const { length } = spans
    this.#waiting -= length
    exporter.export(spans, result => {
      if (result.code === SUCCESS) this.counts.exported += length
      else {
        this.counts.failed += length
        this.#onFailure(result.error)
      }
      onResult(result)
    })
  }
}
