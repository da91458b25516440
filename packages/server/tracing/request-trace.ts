import type { Attributes, Context, Span, Tracer as SpanTracer } from '@opentelemetry/api'
import type { Usage } from '@rideau/llm/usage/usage'
import type { AttemptRecord, RequestRecord } from '../core/records/request-record.ts'
import type { RequestTrace, TracedAttempt, TracedRequest } from '../core/records/tracer.ts'
import {
  toAttemptAttributes,
  toRecordAttributes,
  toRequestAttributes,
  toReserveAttributes,
  toUsageAttributes,
} from './attributes.ts'
import type { Api } from './load-sdk.ts'

export interface RequestTraceInit {
  readonly api: Api
  readonly spans: SpanTracer
  /** The context with the caller's span, if the trace is the caller's. */
  readonly parent: Context
  readonly propagates: boolean
}

/** From this status on a request failed because of the gateway or a provider, not of its caller. */
const FIRST_SERVER_ERROR = 500

/** The spans of one request: one for the request, and below it identify, reserve, each attempt, and settle. */
export class SpannedRequest implements RequestTrace {
  readonly #init: RequestTraceInit
  readonly #arrivedAt: number
  readonly #startedAt: number
  readonly #span: Span
  /** With that span, so that others are below it. */
  readonly #context: Context
  #reservingAt: number | undefined
  #reservedAt: number | undefined
  #settledAt: number | undefined
  #record: RequestRecord | undefined
  /** The attempt that runs or answers. */
  #attempt: Span | undefined
  #isAnswered = false
  #isStream = false

  constructor(request: TracedRequest, init: RequestTraceInit) {
    const { api, spans, parent } = init
    this.#init = init
    this.#arrivedAt = request.arrivedAt
    this.#startedAt = request.startedAt
    this.#span = spans.startSpan(
      `${request.method} ${request.route}`,
      {
        kind: api.SpanKind.SERVER,
        startTime: request.arrivedAt,
        attributes: toRequestAttributes(request),
      },
      parent,
    )
    this.#context = api.trace.setSpan(api.ROOT_CONTEXT, this.#span)
    this.#addChild('identify', request.startedAt, performance.now())
  }

  noteReserving(): void {
    this.#reservingAt = performance.now()
  }

  noteReserved(): void {
    this.#reservedAt = performance.now()
  }

  startAttempt(attempt: TracedAttempt): string | undefined {
    const { api, spans, propagates } = this.#init
    const startTime = this.#toTime(performance.now())
    const attributes = toAttemptAttributes(attempt)
    const name = `${attempt.operation} ${attempt.model}`
    const span = spans.startSpan(name, { kind: api.SpanKind.CLIENT, startTime, attributes }, this.#context)
    this.#attempt = span
    this.#isAnswered = false
    this.#isStream = attempt.isStream
    if (!propagates) return undefined
    const { traceId, spanId, traceFlags } = span.spanContext()
    return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
  }

  endAttempt(
    { status, error, ms }: AttemptRecord,
    usage: Usage | undefined,
    answeredModel: string | undefined,
  ): void {
    const span = this.#attempt
    if (span === undefined) return
    if (status !== null) span.setAttribute('http.response.status_code', status)
    if (error === null) {
      this.#isAnswered = true
      if (answeredModel !== undefined) span.setAttribute('gen_ai.response.model', answeredModel)
      // An attempt at a stream has answered with its first event.
      if (this.#isStream) span.setAttribute('gen_ai.response.time_to_first_chunk', ms / 1000)
      return
    }
    if (usage !== undefined) span.setAttributes(toUsageAttributes(usage, true))
    this.#endAttempt(error, performance.now())
  }

  noteRecord(record: RequestRecord, usage: Usage): void {
    const now = performance.now()
    this.#settledAt = now
    this.#record = record
    if (this.#attempt === undefined) return
    if (this.#isAnswered) {
      this.#attempt.setAttributes(toUsageAttributes(usage, record.usage_estimated))
      if (record.finish_reason !== null)
        this.#attempt.setAttribute('gen_ai.response.finish_reasons', [record.finish_reason])
    }
    this.#endAttempt(record.error_code, now)
  }

  end(requestId: string, sent: number | undefined): void {
    const now = performance.now()
    const record = this.#record
    const status = record?.status ?? sent
    const error = record?.error_code ?? null
    this.#endAttempt(error ?? 'interrupted', now)
    if (this.#reservingAt !== undefined) {
      const isAdmitted = this.#reservedAt !== undefined
      const attributes = record === undefined ? {} : toReserveAttributes(record, isAdmitted)
      this.#addChild('reserve', this.#reservingAt, this.#reservedAt ?? this.#settledAt ?? now, attributes)
    }
    if (this.#settledAt !== undefined) this.#addChild('settle', this.#settledAt, now)
    const span = this.#span
    span.setAttribute('rideau.request.id', requestId)
    if (sent !== undefined) span.setAttribute('http.response.status_code', sent)
    if (record !== undefined) this.#setRecord(record)
    if (error !== null) span.setAttribute('error.type', error)
    if (status !== undefined && status >= FIRST_SERVER_ERROR) {
      if (error === null) span.setAttribute('error.type', String(status))
      span.setStatus({ code: this.#init.api.SpanStatusCode.ERROR })
    }
    span.end(this.#toTime(now))
  }

  #setRecord(record: RequestRecord): void {
    const span = this.#span
    span.setAttributes(toRecordAttributes(record))
    // What was passed over made no call. It stands in the order of the attempts, without a time of its own.
    for (const { provider, model, credential_id, error, start_ms } of record.attempts) {
      if (start_ms !== undefined || error === null) continue
      span.addEvent('rideau.attempt_skipped', {
        'gen_ai.request.model': model,
        'rideau.provider.id': provider,
        'rideau.credential.id': credential_id,
        'error.type': error,
      })
    }
  }

  #endAttempt(error: string | null, at: number): void {
    const span = this.#attempt
    if (span === undefined) return
    this.#attempt = undefined
    if (error !== null) {
      span.setAttribute('error.type', error)
      span.setStatus({ code: this.#init.api.SpanStatusCode.ERROR })
    }
    span.end(this.#toTime(at))
  }

  #addChild(name: string, from: number, to: number, attributes: Attributes = {}): void {
    const span = this.#init.spans.startSpan(
      name,
      { startTime: this.#toTime(from), attributes },
      this.#context,
    )
    span.end(this.#toTime(to))
  }

  /** From `performance.now()` to Unix milliseconds. */
  #toTime(at: number): number {
    return this.#arrivedAt + (at - this.#startedAt)
  }
}
