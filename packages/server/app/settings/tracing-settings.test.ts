import { describe, expect, test } from 'vitest'
import { ConfigError } from './config-error.ts'
import { parseConfig } from './settings.ts'

const ON = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }
const parse = (env: Record<string, string>) => parseConfig({ ...ON, ...env }).tracing

test('traces are off without an address', () => {
  expect(
    parseConfig({ OTEL_SERVICE_NAME: 'gateway', OTEL_METRICS_EXPORTER: 'prometheus' }).tracing,
  ).toBeUndefined()
  expect(parse({ OTEL_SDK_DISABLED: 'true' })).toBeUndefined()
  expect(parse({ OTEL_TRACES_EXPORTER: 'none' })).toBeUndefined()
})

test.each([
  { OTEL_PROPAGATORS: 'tracecontext,baggage,b3', OTEL_TRACES_EXPORTER: 'console' },
  { OTEL_TRACES_SAMPLER: 'parentbased_jaeger_remote', OTEL_TRACES_SAMPLER_ARG: 'endpoint=http://a:1' },
  { OTEL_SDK_DISABLED: 'TRUE', OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317', OTEL_PROPAGATORS: 'xray' },
  { OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317' },
])(
  'what other programs need and this one does not support does not stop the start while traces are off: %j',
  env => {
    expect(parseConfig(env).tracing).toBeUndefined()
  },
)

test('an address that is none stops the start', () => {
  expect(() => parseConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: 'nonsense' })).toThrow(
    /^OTEL_EXPORTER_OTLP_ENDPOINT: /,
  )
})

test("the defaults are those of OpenTelemetry's specification", () => {
  expect(parse({})).toEqual({
    url: 'http://collector:4318/v1/traces',
    protocol: 'http/protobuf',
    headers: {},
    compression: 'none',
    timeoutMs: 10_000,
    resource: { 'service.name': 'rideau' },
    sampler: 'parentbased_always_on',
    ratio: 1,
    propagates: true,
    batches: { maxQueueSize: 2048, maxBatchSize: 512, delayMs: 5000, timeoutMs: 30_000 },
  })
})

test('a variable of traces counts before the one of all signals', () => {
  expect(
    parse({
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces.example/custom',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
      OTEL_EXPORTER_OTLP_HEADERS: 'a=1, b=x%2Cy%3D',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'a=2',
      OTEL_EXPORTER_OTLP_TIMEOUT: '1',
      OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: '2',
      OTEL_EXPORTER_OTLP_TRACES_COMPRESSION: 'gzip',
      OTEL_RESOURCE_ATTRIBUTES: 'service.name=other,team=core%20team',
      OTEL_SERVICE_NAME: 'gateway',
      OTEL_TRACES_SAMPLER: 'traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.25',
      OTEL_PROPAGATORS: 'none',
      OTEL_BSP_MAX_QUEUE_SIZE: '100',
    }),
  ).toMatchObject({
    url: 'https://traces.example/custom',
    protocol: 'http/json',
    headers: { a: '2', b: 'x,y=' },
    timeoutMs: 2,
    compression: 'gzip',
    resource: { 'service.name': 'gateway', team: 'core team' },
    sampler: 'traceidratio',
    ratio: 0.25,
    propagates: false,
    batches: { maxQueueSize: 100, maxBatchSize: 100 },
  })
})

test('propagators that stand beside tracecontext are accepted', () => {
  expect(parse({ OTEL_PROPAGATORS: 'tracecontext, baggage' })?.propagates).toBe(true)
})

describe('an invalid setting stops the start with a message that says what is accepted', () => {
  const pairs = 'like name=value,name=value, percent-encoded'
  test.each([
    ['OTEL_SDK_DISABLED', 'yes', 'must be one of true, false; got "yes"'],
    ['OTEL_TRACES_EXPORTER', 'zipkin', 'must be one of otlp, none; got "zipkin"'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318', 'must be a URL that begins with http:// or https://'],
    [
      'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
      'ftp://secret@collector',
      'must be a URL that begins with http:// or https://',
    ],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'http', 'must be one of http/protobuf, http/json, grpc; got "http"'],
    [
      'OTEL_EXPORTER_OTLP_PROTOCOL',
      'grpc',
      'grpc is not supported; must be http/protobuf or http/json (port 4318)',
    ],
    [
      'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL',
      'grpc',
      'grpc is not supported; must be http/protobuf or http/json (port 4318)',
    ],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'Bearer secret', `must be headers ${pairs}`],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a b=secret', `must be headers ${pairs}`],
    ['OTEL_EXPORTER_OTLP_TRACES_HEADERS', 'a=secret%0d%0ab', `must be headers ${pairs}`],
    ['OTEL_EXPORTER_OTLP_TRACES_HEADERS', 'a=secret%', `must be headers ${pairs}`],
    [
      'OTEL_EXPORTER_OTLP_TIMEOUT',
      '10s',
      'must be a whole number of milliseconds from 1 to 3600000; got "10s"',
    ],
    ['OTEL_EXPORTER_OTLP_COMPRESSION', 'zstd', 'must be one of none, gzip; got "zstd"'],
    [
      'OTEL_EXPORTER_OTLP_CERTIFICATE',
      '/ca.pem',
      'is not supported; NODE_EXTRA_CA_CERTS names further certificate authorities',
    ],
    ['OTEL_RESOURCE_ATTRIBUTES', '=x', `must be attributes ${pairs}`],
    [
      'OTEL_TRACES_SAMPLER',
      'jaeger_remote',
      'must be one of always_on, always_off, traceidratio, parentbased_always_on, parentbased_always_off, parentbased_traceidratio; got "jaeger_remote"',
    ],
    ['OTEL_TRACES_SAMPLER_ARG', '1.5', 'must be a number from 0 to 1; got "1.5"'],
    [
      'OTEL_PROPAGATORS',
      'b3',
      'must be tracecontext or none (baggage may stand beside it and is not passed on)',
    ],
    ['OTEL_BSP_MAX_QUEUE_SIZE', '0', 'must be a whole number from 1 to 1000000; got "0"'],
    ['OTEL_BSP_MAX_EXPORT_BATCH_SIZE', '4096', 'must be at most OTEL_BSP_MAX_QUEUE_SIZE, 2048; got 4096'],
    ['OTEL_BSP_SCHEDULE_DELAY', '-1', 'must be a whole number of milliseconds from 1 to 3600000; got "-1"'],
  ])('%s=%s', (name, value, message) => {
    expect(() => parse({ [name]: value })).toThrow(new ConfigError(`${name}: ${message}`))
  })

  test.each(['OTEL_EXPORTER_OTLP_PROTOCOL=grpc', 'OTEL_EXPORTER_OTLP_CERTIFICATE=/ca.pem'])(
    '%s alone does not: traces are off',
    setting => {
      const [name = '', value] = setting.split('=')
      expect(parseConfig({ [name]: value }).tracing).toBeUndefined()
    },
  )
})
