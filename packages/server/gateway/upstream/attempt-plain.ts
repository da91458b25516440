import type {
  ChatReply,
  ClientDialect,
  JsonObject,
  Target,
  UpstreamError,
  UpstreamRequest,
} from '@rideau/llm/spec'
import type { AttemptResult } from '../attempt-result.ts'
import type { Exchange } from '../exchange.ts'
import type { Transport, UpstreamHeaders } from './transport.ts'

/** A provider's whole answer: its bytes, and what they mean. */
export interface PlainAnswer {
  readonly bytes: Buffer
  readonly body: JsonObject
  readonly reply: ChatReply
}

/** An answer larger than this is a provider's mistake, or an attack through a custom address. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024

export interface AttemptOptions {
  readonly exchange: Exchange
  readonly transport: Transport
  readonly dialect: ClientDialect
  readonly target: Target
  readonly request: UpstreamRequest
  /** Milliseconds until the whole answer, or a stream's first event, has to be there. */
  readonly timeoutMs: number
}

/** One try for a plain answer. Never rejects: what goes wrong is a classified error. */
export function attemptPlain(options: AttemptOptions): Promise<AttemptResult<PlainAnswer>> {
  return new Promise(resolve => {
    const { exchange: x, dialect, target } = options
    const chunks: Buffer[] = []
    let status = 0
    let headers: UpstreamHeaders = {}
    let size = 0
    const finish = (result: AttemptResult<PlainAnswer>): void => {
      x.unwatch()
      resolve(result)
    }
    const giveUp = (error: UpstreamError): void => {
      call.abort()
      finish({ ok: false, error })
    }
    const deadline = performance.now() + options.timeoutMs
    x.watch(
      now => {
        if (now > deadline) giveUp({ kind: 'timeout', detail: `no answer in ${options.timeoutMs} ms` })
      },
      () => giveUp({ kind: 'interrupted', detail: 'stopped by us' }),
    )
    const call = options.transport.call(options.request, {
      onStart(startStatus, startHeaders) {
        status = startStatus
        headers = startHeaders
      },
      onData(chunk) {
        size += chunk.length
        if (size > MAX_ANSWER_BYTES)
          giveUp({ kind: 'unavailable', status, detail: 'the answer is too large' })
        else chunks.push(chunk)
      },
      onEnd() {
        const bytes = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, size)
        finish(decodeAnswer(dialect, target, status, headers, bytes))
      },
      onFail(error) {
        // An answer that breaks off has not been delivered: the try failed, whatever part of it came.
        finish({ ok: false, error: status === 0 ? error : { ...error, status } })
      },
    })
  })
}

function decodeAnswer(
  dialect: ClientDialect,
  target: Target,
  status: number,
  headers: UpstreamHeaders,
  bytes: Buffer,
): AttemptResult<PlainAnswer> {
  if (status < 200 || status >= 300) {
    return { ok: false, error: dialect.decodeError(status, headers, bytes.toString('utf8')) }
  }
  let body: unknown
  try {
    body = JSON.parse(bytes.toString('utf8'))
  } catch {
    return { ok: false, error: { kind: 'unavailable', status, detail: 'the answer is not JSON' } }
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return { ok: false, error: { kind: 'unavailable', status, detail: 'the answer is not a JSON object' } }
  }
  const object = body as JsonObject
  const reply = dialect.decodeReply(object, target)
  if (reply.choices.length === 0) {
    if (object.error !== undefined) {
      return { ok: false, error: dialect.decodeError(status, headers, bytes.toString('utf8')) }
    }
    return { ok: false, error: { kind: 'unavailable', status, detail: 'the answer has no choices' } }
  }
  return { ok: true, status, value: { bytes, body: object, reply } }
}
