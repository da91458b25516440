import type { ClientDialect, JsonObject, UpstreamError, UpstreamRequest } from '@rideau/llm/spec'
import type { AttemptResult } from '../attempt-result.ts'
import type { Exchange } from '../exchange.ts'
import type { Transport, UpstreamHeaders } from './transport.ts'

/** Who keeps the time and says when to stop. */
export type Watched = Pick<Exchange, 'watch' | 'unwatch'>

export interface WholeOptions {
  readonly exchange: Watched
  readonly transport: Transport
  readonly request: UpstreamRequest
  /** Milliseconds until the whole answer has to be there. */
  readonly timeoutMs: number
}

/** An answer with all of its bytes, whatever its status. */
export interface WholeAnswer {
  readonly status: number
  readonly headers: UpstreamHeaders
  readonly bytes: Buffer
}

/** An answer larger than this is a provider's mistake, or an attack through a custom address. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024

/** One call for an answer as a whole. Never rejects: what goes wrong is a classified error. */
export function attemptWhole<T>(
  options: WholeOptions,
  decode: (answer: WholeAnswer) => AttemptResult<T>,
): Promise<AttemptResult<T>> {
  return new Promise(resolve => {
    const { exchange: x } = options
    const chunks: Buffer[] = []
    let status = 0
    let headers: UpstreamHeaders = {}
    let size = 0
    const finish = (result: AttemptResult<T>): void => {
      x.unwatch()
      resolve(result)
    }
    // A transport that is closing fails before it gives a call.
    let hasLeft = (): boolean => false
    const fail = (error: UpstreamError): void =>
      finish({ ok: false, error, isUnanswered: isUnanswered(hasLeft(), status) })
    const giveUp = (error: UpstreamError): void => {
      call.abort()
      fail(error)
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
        finish(decode({ status, headers, bytes }))
      },
      onFail(error) {
        // An answer that breaks off has not been delivered: the try failed, whatever part of it came.
        fail(status === 0 ? error : { ...error, status })
      },
    })
    hasLeft = () => call.isSent
  })
}

/** Did a request leave to which no answer came, or only a part of a good one? `status` is 0 before its headers. */
export function isUnanswered(isSent: boolean, status: number): boolean {
  return isSent && (status === 0 || (status >= 200 && status < 300))
}

export type ParsedAnswer =
  | { readonly ok: true; readonly body: JsonObject }
  | { readonly ok: false; readonly error: UpstreamError }

/** The JSON object of a successful answer; anything else is the error that it tells of. */
export function parseAnswer(
  { status, headers, bytes }: WholeAnswer,
  decodeError: ClientDialect['decodeError'],
): ParsedAnswer {
  if (status < 200 || status >= 300) {
    return { ok: false, error: decodeError(status, headers, bytes.toString('utf8')) }
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
  return { ok: true, body: body as JsonObject }
}
