import type * as api from '@opentelemetry/api'
import type { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import type * as resources from '@opentelemetry/resources'
import type * as trace from '@opentelemetry/sdk-trace'
import type { TracingConfig } from './tracing-config.ts'

export type Api = typeof api
export type TraceSdk = typeof trace

/** OpenTelemetry's packages. */
export interface Sdk {
  readonly api: Api
  readonly trace: TraceSdk
  readonly resources: typeof resources
  readonly Exporter: typeof OTLPTraceExporter
}

/**
 * Loads OpenTelemetry's packages, which a process without traces does not load: they take 16 MB of memory and 0.1 s of the
 * start. tools/check-project.mjs allows imports at run time here only, and of these packages only.
 */
export async function loadSdk(protocol: TracingConfig['protocol']): Promise<Sdk> {
  const [api, trace, resources, exporter] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/resources'),
    protocol === 'http/json'
      ? import('@opentelemetry/exporter-trace-otlp-http')
      : import('@opentelemetry/exporter-trace-otlp-proto'),
  ])
  return { api, trace, resources, Exporter: exporter.OTLPTraceExporter }
}
