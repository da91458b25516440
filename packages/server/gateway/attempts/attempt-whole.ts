import type { ClientFormat } from '@rideau/llm/formats/shared/client-format'
import { decodeText } from '@rideau/llm/json/decode-text'
import type { JsonObject } from '@rideau/llm/json/json-value'
import type { UpstreamError } from '@rideau/llm/upstream/upstream-error'
import type { UpstreamRequest } from '@rideau/llm/upstream/upstream-request'
import type { Usage } from '@rideau/llm/usage/usage'
import { batchInTick } from '../../http/batch-in-tick.ts'
import type { Charge } from '../billing/bill.ts'
import type { RequestContext } from '../request/request-context.ts'
import type { Transport, UpstreamHeaders } from '../upstream/transport.ts'
import type { AttemptResult } from './attempt-result.ts'

/** Who keeps the time and says when to stop. */
export type Watched = Pick<RequestContext, 'watch' | 'unwatch' | 'fail'>

export interface WholeOptions {
  readonly ctx: Watched
  readonly transport: Transport
  readonly request: UpstreamRequest
  /** Milliseconds until the whole answer has to be there. */
  readonly timeoutMs: number
}

/** An answer with all of its bytes, whatever its status. */
export interface WholeAnswer {
  readonly status: number
  readonly readHeaders: () => UpstreamHeaders
  readonly bytes: Buffer
}

/** An answer larger than this is a provider's mistake, or an attack through a custom address. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024

/** One call for an answer as a whole. What goes wrong is a classified error; it rejects for exceptions of ours only. */
export function attemptWhole<T>(
  options: WholeOptions,
  decode: (answer: WholeAnswer) => AttemptResult<T>,
): Promise<AttemptResult<T>> {
  return new Promise((resolve, reject) => {
    const { ctx } = options
    const chunks: Buffer[] = []
    let status = 0
    let readHeaders = (): UpstreamHeaders => ({})
    let size = 0
    const finish = (result: AttemptResult<T>): void => {
      ctx.unwatch()
      resolve(result)
    }
    // A transport that is closing fails before it gives a call.
    let hasLeft = (): boolean => false
    const fail = (error: UpstreamError, isCutByUs: boolean): void => {
      const charge = toCharge({ isSent: hasLeft(), status, isAnswered: !isCutByUs, bytes: size })
      finish({ ok: false, error, charge })
    }
    const giveUp = (error: UpstreamError): void => {
      call.abort()
      // A status: it is the answer's fault.
      fail(error, error.status === undefined)
    }
    const deadline = performance.now() + options.timeoutMs
    ctx.watch(
      now => {
        if (now > deadline) giveUp({ kind: 'timeout', detail: `no answer in ${options.timeoutMs} ms` })
      },
      () => giveUp({ kind: 'interrupted', detail: 'stopped by us' }),
    )
    const call = options.transport.call(options.request, {
      onStart(startStatus, startHeaders) {
        status = startStatus
        readHeaders = startHeaders
      },
      onData(chunk) {
        size += chunk.length
        if (size > MAX_ANSWER_BYTES)
          giveUp({ kind: 'unavailable', status, detail: 'the answer is too large' })
        else chunks.push(chunk)
      },
      onEnd() {
        ctx.unwatch()
        batchInTick(() => {
          const bytes = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, size)
          resolve(readAnswer({ status, readHeaders, bytes }, decode))
        }, reject)
      },
      onFail(error) {
        // An answer that breaks off has not been delivered: the try failed, whatever part of it came.
        fail(status === 0 ? error : { ...error, status }, false)
      },
      onCrash: reject,
    })
    hasLeft = () => call.isSent
  })
}

/** A provider may send anything: what our decoder does not expect is an answer that cannot be read. */
function readAnswer<T>(
  answer: WholeAnswer,
  decode: (answer: WholeAnswer) => AttemptResult<T>,
): AttemptResult<T> {
  try {
    return decode(answer)
  } catch (error) {
    return unreadable(answer, `the answer cannot be read: ${String(error)}`)
  }
}

/** A good status, and a body that is no answer: it was made, and is paid for. */
export function unreadable<T>(
  { status, bytes }: WholeAnswer,
  detail: string,
  usage?: Usage,
): AttemptResult<T> & { ok: false } {
  return {
    ok: false,
    error: { kind: 'unavailable', status, detail },
    charge: { isAnswered: true, bytes: bytes.length, usage },
  }
}

/** A try that failed without a word of its provider on why. `status` is 0 before its headers. */
export interface AbandonedAttempt extends Charge {
  readonly isSent: boolean
  readonly status: number
}

/** Undefined: it never left, or a bad status came, which no provider charges for. */
export function toCharge({ isSent, status, isAnswered, bytes, usage }: AbandonedAttempt): Charge | undefined {
  if (!isSent || (status !== 0 && (status < 200 || status >= 300))) return undefined
  return { isAnswered: isAnswered && status !== 0, bytes, usage }
}

export type ParsedAnswer =
  | { readonly ok: true; readonly body: JsonObject }
  | (AttemptResult<never> & { readonly ok: false })

/** The JSON object of a successful answer; anything else is the error that it tells of. */
export function parseAnswer(answer: WholeAnswer, decodeError: ClientFormat['decodeError']): ParsedAnswer {
  const { status, readHeaders, bytes } = answer
  if (status < 200 || status >= 300) {
    return { ok: false, error: decodeError(status, readHeaders(), decodeText(bytes)) }
  }
  let body: unknown
  try {
    body = JSON.parse(decodeText(bytes))
  } catch {
    return unreadable(answer, 'the answer is not JSON')
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return unreadable(answer, 'the answer is not a JSON object')
  }
  return { ok: true, body: body as JsonObject }
}
