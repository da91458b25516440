import http, { type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A span as OTLP's JSON has it, with its attributes as one object. */
export interface ReceivedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly traceState: string | undefined
  readonly name: string
  /** 1 internal, 2 server, 3 client. */
  readonly kind: number
  /** Unix nanoseconds. */
  readonly startAt: bigint
  readonly endAt: bigint
  readonly isError: boolean
  readonly attributes: Readonly<Record<string, unknown>>
  readonly events: readonly {
    readonly name: string
    readonly attributes: Readonly<Record<string, unknown>>
  }[]
  readonly resource: Readonly<Record<string, unknown>>
}

export interface CollectorRequest {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** A collector of traces for tests, on loopback. It reads JSON. */
export interface TraceCollector {
  readonly url: string
  readonly requests: readonly CollectorRequest[]
  readonly spans: readonly ReceivedSpan[]
  /** Replaces how the next requests are answered. Default: 200. */
  answer(respond: (res: ServerResponse) => void): void
  /** Resolves with all spans of the trace that has a request's own span, which is sent last. Rejects after 10 s. */
  trace(requestId: string): Promise<readonly ReceivedSpan[]>
  /** Resolves once `count` requests have arrived. */
  until(count: number): Promise<void>
  close(): Promise<void>
}

export async function openTraceCollector(): Promise<TraceCollector> {
  const requests: CollectorRequest[] = []
  const spans: ReceivedSpan[] = []
  let respond = (res: ServerResponse): void => void res.writeHead(200).end('{}')
  let waiting: { isDone: () => boolean; resolve: () => void }[] = []
  const server = http.createServer(async (req, res) => {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    requests.push({ path: req.url ?? '', headers: req.headers, body })
    if (req.headers['content-type'] === 'application/json' && req.headers['content-encoding'] === undefined)
      spans.push(...toSpans(JSON.parse(body.toString('utf8'))))
    respond(res)
    for (const { resolve } of waiting.filter(({ isDone }) => isDone())) resolve()
    waiting = waiting.filter(({ isDone }) => !isDone())
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const wait = async (isDone: () => boolean, what: string): Promise<void> => {
    if (isDone()) return
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no ${what} in 10 s`)), 10_000)
      waiting.push({
        isDone,
        resolve() {
          clearTimeout(timer)
          resolve()
        },
      })
    })
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    spans,
    answer(given) {
      respond = given
    },
    async trace(requestId) {
      const find = (): ReceivedSpan | undefined =>
        spans.find(span => span.kind === 2 && span.attributes['rideau.request.id'] === requestId)
      await wait(() => find() !== undefined, `trace of ${requestId}`)
      return spans.filter(({ traceId }) => traceId === find()?.traceId)
    },
    until: count => wait(() => requests.length >= count, `${count} exports`),
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

// biome-ignore lint: JSON of OTLP
type Otlp = any

function toSpans(body: Otlp): ReceivedSpan[] {
  return body.resourceSpans.flatMap(({ resource, scopeSpans }: Otlp) =>
    scopeSpans.flatMap(({ spans }: Otlp) =>
      spans.map(
        (span: Otlp): ReceivedSpan => ({
          traceId: span.traceId,
          spanId: span.spanId,
          parentSpanId: span.parentSpanId,
          traceState: span.traceState,
          name: span.name,
          kind: span.kind,
          startAt: BigInt(span.startTimeUnixNano),
          endAt: BigInt(span.endTimeUnixNano),
          isError: span.status?.code === 2,
          attributes: toObject(span.attributes),
          events: span.events.map((event: Otlp) => ({
            name: event.name,
            attributes: toObject(event.attributes),
          })),
          resource: toObject(resource.attributes),
        }),
      ),
    ),
  )
}

function toObject(attributes: readonly { key: string; value: Otlp }[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, toValue(value)]))
}

function toValue(value: Otlp): unknown {
  if (value.arrayValue !== undefined) return value.arrayValue.values.map(toValue)
  return value.stringValue ?? value.intValue ?? value.doubleValue ?? value.boolValue
}
