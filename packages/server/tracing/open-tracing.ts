import type { Context, Tracer as SpanTracer } from '@opentelemetry/api'
import type { Sampler } from '@opentelemetry/sdk-trace'
import type { Log } from '../core/log.ts'
import { LogPace } from '../core/log-pace.ts'
import type { TracedRequest, Tracer } from '../core/records/tracer.ts'
import { CountedExport, type SpanCounts } from './counted-export.ts'
import { type Api, loadSdk, type Sdk, type TraceSdk } from './load-sdk.ts'
import { boundTracestate, parseTraceparent } from './parse-traceparent.ts'
import { SpannedRequest } from './request-trace.ts'
import type { TracingConfig } from './tracing-config.ts'

/** Names of models and ids are shorter. */
const MAX_ATTRIBUTE_CHARS = 512
/** The most of a collector's words that are logged. */
const MAX_REASON_CHARS = 200
/** How long the last spans may take at the end. */
const CLOSE_MS = 3_000
const MAX_EXPORTS = 30

/** The traces of a process. */
export interface Tracing {
  readonly tracer: Tracer
  readonly counts: Readonly<SpanCounts>
  /** Sends what waits, for 3 s at most. Never rejects. */
  close(): Promise<void>
}

/** Loads OpenTelemetry's SDK and connects it with the collector, which is first called when the first spans are sent. */
export async function openTracing(
  config: TracingConfig,
  { instanceId, log }: { readonly instanceId: string; readonly log: Pick<Log, 'warn'> },
): Promise<Tracing> {
  const sdk = await loadSdk(config.protocol)
  const { api, trace, resources } = sdk
  const counted = new CountedExport(config.batches.maxQueueSize, openFailureLog(log))
  const provider = new trace.TracerProvider({
    resource: resources.resourceFromAttributes({ 'service.instance.id': instanceId, ...config.resource }),
    sampler: createSampler(config, trace),
    spanLimits: { attributeValueLengthLimit: MAX_ATTRIBUTE_CHARS },
    spanProcessors: [counted.processor(openBatches(config, sdk, counted))],
  })
  return {
    tracer: createTracer(provider.getTracer('rideau'), api, config.propagates),
    counts: counted.counts,
    close: () => closeInTime(() => provider.shutdown()),
  }
}

function openBatches(
  { url, headers, compression, timeoutMs, batches }: TracingConfig,
  { trace, Exporter }: Sdk,
  counted: CountedExport,
): InstanceType<TraceSdk['BatchSpanProcessor']> {
  const { maxQueueSize, maxBatchSize } = batches
  const exporter = new Exporter({
    url,
    headers: { ...headers },
    compression: compression as NonNullable<ConstructorParameters<Sdk['Exporter']>[0]>['compression'] &
      string,
    timeoutMillis: timeoutMs,
    // At the end all that waits is sent at once.
    concurrencyLimit: Math.min(MAX_EXPORTS, Math.ceil(maxQueueSize / maxBatchSize) + 1),
    // Given, so that the exporter reads no certificates that only its own variables name.
    httpAgentOptions: { keepAlive: true },
  })
  return new trace.BatchSpanProcessor({
    exporter: counted.exporter(exporter),
    maxQueueSize,
    maxExportBatchSize: maxBatchSize,
    scheduledDelayMillis: batches.delayMs,
    exportTimeoutMillis: batches.timeoutMs,
  })
}

function createTracer(spans: SpanTracer, api: Api, propagates: boolean): Tracer {
  return {
    begin(request) {
      const parent = propagates ? toParent(request, api) : api.ROOT_CONTEXT
      return new SpannedRequest(request, { api, spans, parent, propagates })
    },
  }
}

/** Returns the caller's span as a context. */
function toParent({ traceparent, tracestate }: TracedRequest, api: Api): Context {
  const given = parseTraceparent(traceparent)
  if (given === undefined) return api.ROOT_CONTEXT
  const { traceId, spanId, isSampled } = given
  const state = boundTracestate(tracestate)
  return api.trace.setSpanContext(api.ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: isSampled ? api.TraceFlags.SAMPLED : api.TraceFlags.NONE,
    isRemote: true,
    ...(state === undefined ? {} : { traceState: api.createTraceState(state) }),
  })
}

function createSampler({ sampler, ratio }: TracingConfig, trace: TraceSdk): Sampler {
  switch (sampler) {
    case 'always_on':
      return new trace.AlwaysOnSampler()
    case 'always_off':
      return new trace.AlwaysOffSampler()
    case 'traceidratio':
      return new trace.TraceIdRatioBasedSampler(ratio)
    case 'parentbased_always_on':
      return new trace.ParentBasedSampler({ root: new trace.AlwaysOnSampler() })
    case 'parentbased_always_off':
      return new trace.ParentBasedSampler({ root: new trace.AlwaysOffSampler() })
    case 'parentbased_traceidratio':
      return new trace.ParentBasedSampler({ root: new trace.TraceIdRatioBasedSampler(ratio) })
  }
}

function openFailureLog(log: Pick<Log, 'warn'>): (error: Error | undefined) => void {
  const pace = new LogPace()
  return error => {
    if (!pace.isDue(performance.now())) return
    const { code, message } = (error ?? {}) as { code?: string | number; message?: string }
    log.warn(
      { code, reason: message?.slice(0, MAX_REASON_CHARS) },
      'traces cannot be exported to the collector',
    )
  }
}

/** The collector's failures were counted and logged. */
async function closeInTime(shutdown: () => Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>(resolve => {
    timer = setTimeout(resolve, CLOSE_MS)
  })
  await Promise.race([shutdown().catch(() => {}), late])
  clearTimeout(timer)
}
