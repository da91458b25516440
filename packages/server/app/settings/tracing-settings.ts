import { z } from 'zod'
import type { TracingConfig } from '../../tracing/tracing-config.ts'
import { ConfigError } from './config-error.ts'
import { choice, numberWithin, wholeNumber } from './setting-types.ts'

/**
 * OpenTelemetry's own variables, as its specification names and combines them; part of the settings in settings.ts. Variables of other
 * signals and of other programs may be set beside them and are not read.
 */

const flag = choice('true', 'false').transform(value => value === 'true')
const url = z.url({ protocol: /^https?$/, error: 'must be a URL that begins with http:// or https://' })
const protocol = choice('http/protobuf', 'http/json', 'grpc')
const compression = choice('none', 'gzip')
const MAX_MS = 3_600_000
const milliseconds = wholeNumber(1, MAX_MS, `must be a whole number of milliseconds from 1 to ${MAX_MS}`)
const MAX_SPANS = 1_000_000
const spans = wholeNumber(1, MAX_SPANS, `must be a whole number from 1 to ${MAX_SPANS}`)
const share = numberWithin(0, 1, 'must be a number from 0 to 1')

const PROPAGATORS: ReadonlySet<string> = new Set(['tracecontext', 'baggage', 'none'])
const propagators = z
  .string()
  .transform(value => value.split(',').map(name => name.trim()))
  .refine(
    names => names.every(name => PROPAGATORS.has(name)),
    'must be tracecontext or none (baggage may stand beside it and is not passed on)',
  )

/** A header's name, and visible ASCII. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const HEADER_VALUE = /^[\x20-\x7e]*$/

type Pairs = ReadonlyMap<string, string>

/** Pairs in the form of W3C Baggage. The message never has the text, which may be a secret. */
function pairs(
  isAccepted: (name: string, value: string) => boolean,
  what: string,
): z.ZodPipe<z.ZodString, z.ZodTransform<Pairs, string>> {
  return z.string().transform((text, context): Pairs => {
    const parsed = parsePairs(text)
    if (parsed !== undefined && [...parsed].every(([name, value]) => isAccepted(name, value))) return parsed
    context.addIssue({
      code: 'custom',
      message: `must be ${what} like name=value,name=value, percent-encoded`,
    })
    return z.NEVER
  })
}

function parsePairs(text: string): Pairs | undefined {
  const found = new Map<string, string>()
  for (const entry of text.split(',')) {
    if (entry.trim() === '') continue
    const at = entry.indexOf('=')
    if (at === -1) return undefined
    try {
      const name = decodeURIComponent(entry.slice(0, at).trim())
      if (name === '') return undefined
      found.set(name, decodeURIComponent(entry.slice(at + 1).trim()))
    } catch {
      return undefined
    }
  }
  return found
}

const headers = pairs((name, value) => HEADER_NAME.test(name) && HEADER_VALUE.test(value), 'headers')

export const TRACING_SETTINGS = {
  OTEL_SDK_DISABLED: flag.default(false),
  OTEL_TRACES_EXPORTER: choice('otlp', 'none').default('otlp'),
  OTEL_SERVICE_NAME: z.string().optional(),
  OTEL_RESOURCE_ATTRIBUTES: pairs(() => true, 'attributes').optional(),
  OTEL_TRACES_SAMPLER: choice(
    'always_on',
    'always_off',
    'traceidratio',
    'parentbased_always_on',
    'parentbased_always_off',
    'parentbased_traceidratio',
  ).default('parentbased_always_on'),
  OTEL_TRACES_SAMPLER_ARG: share.default(1),
  OTEL_PROPAGATORS: propagators.prefault('tracecontext'),
  OTEL_EXPORTER_OTLP_ENDPOINT: url.optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: url.optional(),
  OTEL_EXPORTER_OTLP_PROTOCOL: protocol.default('http/protobuf'),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: protocol.optional(),
  OTEL_EXPORTER_OTLP_HEADERS: headers.optional(),
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: headers.optional(),
  OTEL_EXPORTER_OTLP_COMPRESSION: compression.default('none'),
  OTEL_EXPORTER_OTLP_TRACES_COMPRESSION: compression.optional(),
  OTEL_EXPORTER_OTLP_TIMEOUT: milliseconds.default(10_000),
  OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: milliseconds.optional(),
  OTEL_BSP_SCHEDULE_DELAY: milliseconds.default(5_000),
  OTEL_BSP_EXPORT_TIMEOUT: milliseconds.default(30_000),
  OTEL_BSP_MAX_QUEUE_SIZE: spans.default(2_048),
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: spans.optional(),
  OTEL_EXPORTER_OTLP_CERTIFICATE: z.string().optional(),
  OTEL_EXPORTER_OTLP_CLIENT_KEY: z.string().optional(),
  OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: z.string().optional(),
  OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE: z.string().optional(),
  OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY: z.string().optional(),
  OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE: z.string().optional(),
}

/** Their values may be of OpenTelemetry's own and still not supported here, which matters only if traces are on. */
const ONLY_IF_ON: readonly string[] = [
  'OTEL_TRACES_EXPORTER',
  'OTEL_TRACES_SAMPLER',
  'OTEL_TRACES_SAMPLER_ARG',
  'OTEL_PROPAGATORS',
]

/**
 * Removes variables that other programs of the same machine need and this one does not: all of OpenTelemetry where it is disabled, and
 * those of ONLY_IF_ON where no address is set.
 */
export function removeUnusedTracing(env: Record<string, unknown>): void {
  const isDisabled =
    String(env.OTEL_SDK_DISABLED).toLowerCase() === 'true' || env.OTEL_TRACES_EXPORTER === 'none'
  const hasAddress =
    env.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined || env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT !== undefined
  if (isDisabled) for (const name of Object.keys(TRACING_SETTINGS)) delete env[name]
  else if (!hasAddress) for (const name of ONLY_IF_ON) delete env[name]
}

/** Traces without them would go to whom the operator does not mean, or fail. */
const UNSUPPORTED = [
  'OTEL_EXPORTER_OTLP_CERTIFICATE',
  'OTEL_EXPORTER_OTLP_CLIENT_KEY',
  'OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE',
  'OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE',
  'OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY',
  'OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE',
] as const

const TracingSettings = z.object(TRACING_SETTINGS)
type ParsedSettings = z.output<typeof TracingSettings>

const SERVICE_NAME = 'rideau'
const BATCH_SPANS = 512

/**
 * Returns where traces go; undefined: they are off (see removeUnusedTracing). Throws a ConfigError for what
 * this program does not support, which matters only if they are on.
 */
export function toTracingConfig(settings: ParsedSettings): TracingConfig | undefined {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own } = settings
  const endpoint = own ?? (base === undefined ? undefined : `${base.replace(/\/+$/, '')}/v1/traces`)
  if (endpoint === undefined) return undefined
  for (const name of UNSUPPORTED) {
    if (settings[name] === undefined) continue
    throw new ConfigError(
      `${name}: is not supported; NODE_EXTRA_CA_CERTS names further certificate authorities`,
    )
  }
  return {
    url: endpoint,
    protocol: toProtocol(settings),
    headers: Object.fromEntries([
      ...(settings.OTEL_EXPORTER_OTLP_HEADERS ?? []),
      ...(settings.OTEL_EXPORTER_OTLP_TRACES_HEADERS ?? []),
    ]),
    compression: settings.OTEL_EXPORTER_OTLP_TRACES_COMPRESSION ?? settings.OTEL_EXPORTER_OTLP_COMPRESSION,
    timeoutMs: settings.OTEL_EXPORTER_OTLP_TRACES_TIMEOUT ?? settings.OTEL_EXPORTER_OTLP_TIMEOUT,
    resource: toResource(settings),
    sampler: settings.OTEL_TRACES_SAMPLER,
    ratio: settings.OTEL_TRACES_SAMPLER_ARG,
    propagates: !settings.OTEL_PROPAGATORS.includes('none'),
    batches: toBatches(settings),
  }
}

function toProtocol(settings: ParsedSettings): TracingConfig['protocol'] {
  const { OTEL_EXPORTER_OTLP_PROTOCOL: all, OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: own } = settings
  const given = own ?? all
  if (given !== 'grpc') return given
  const name = own === undefined ? 'OTEL_EXPORTER_OTLP_PROTOCOL' : 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'
  throw new ConfigError(`${name}: grpc is not supported; must be http/protobuf or http/json (port 4318)`)
}

function toResource({
  OTEL_RESOURCE_ATTRIBUTES,
  OTEL_SERVICE_NAME,
}: ParsedSettings): TracingConfig['resource'] {
  const attributes = new Map([['service.name', SERVICE_NAME], ...(OTEL_RESOURCE_ATTRIBUTES ?? [])])
  if (OTEL_SERVICE_NAME !== undefined) attributes.set('service.name', OTEL_SERVICE_NAME)
  return Object.fromEntries(attributes)
}

function toBatches(settings: ParsedSettings): TracingConfig['batches'] {
  const { OTEL_BSP_MAX_QUEUE_SIZE: maxQueueSize, OTEL_BSP_MAX_EXPORT_BATCH_SIZE: batch } = settings
  if (batch !== undefined && batch > maxQueueSize) {
    throw new ConfigError(
      `OTEL_BSP_MAX_EXPORT_BATCH_SIZE: must be at most OTEL_BSP_MAX_QUEUE_SIZE, ${maxQueueSize}; got ${batch}`,
    )
  }
  return {
    maxQueueSize,
    maxBatchSize: batch ?? Math.min(BATCH_SPANS, maxQueueSize),
    delayMs: settings.OTEL_BSP_SCHEDULE_DELAY,
    timeoutMs: settings.OTEL_BSP_EXPORT_TIMEOUT,
  }
}
