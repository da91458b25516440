import type { Target } from '@rideau/llm/upstream/target'
import type { EncodedRequest } from '@rideau/llm/upstream/upstream-request'
import { toSender } from '../../core/access/to-sender.ts'
import type { IdentifiedContext } from '../request/request-context.ts'
import type { AudioTarget } from '../targets/select-audio-targets.ts'
import type { Transport } from '../upstream/transport.ts'
import type { AttemptResult } from './attempt-result.ts'
import { attemptWhole, toErrorText, unreadable, type WholeAnswer } from './attempt-whole.ts'
import { callWritten } from './authorize-written.ts'
import { ONE_ANSWER, toGrant } from './to-grant.ts'

/** Timeout of a call in milliseconds. An hour of audio takes minutes to transcribe. */
const DEFAULT_TIMEOUT_MS = 600_000

export interface AudioAttempt<T> {
  readonly ctx: IdentifiedContext
  readonly target: Target
  readonly resolved: AudioTarget
  readonly request: EncodedRequest
  readonly isBinary: boolean
  /** Returns undefined if the answer is none; a promise if decoding takes its turns in the event loop. */
  readonly decode: (answer: WholeAnswer) => T | undefined | Promise<T | undefined>
}

interface AudioDeps {
  readonly http: Transport
  readonly sandbox: Transport
  /** Unix milliseconds. */
  readonly now: () => number
}

/** One attempt at a transcript or at speech. */
export function attemptAudio<T>(
  { ctx, target, resolved, request: encoded, isBinary, decode }: AudioAttempt<T>,
  { http, sandbox, now }: AudioDeps,
): Promise<AttemptResult<T>> {
  const { provider, alias, decodeError } = resolved
  const grant = toGrant(toSender(ctx.caller, ctx.environment), target, ONE_ANSWER)
  const transport = provider.sandbox === true ? sandbox : http
  const timeoutMs = alias?.timeoutMs ?? DEFAULT_TIMEOUT_MS
  const options = { ctx, transport, timeoutMs, ...(isBinary ? { isBinary } : {}) }
  const read = (answer: WholeAnswer): AttemptResult<T> | Promise<AttemptResult<T>> => {
    const { status, readHeaders, bytes } = answer
    if (status < 200 || status >= 300) {
      return { ok: false, error: decodeError(status, readHeaders(), toErrorText(bytes)) }
    }
    const toResult = (value: T | undefined): AttemptResult<T> =>
      value === undefined
        ? unreadable(answer, 'the answer has no audio or text')
        : { ok: true, status, value }
    const decoded = decode(answer)
    return decoded instanceof Promise ? decoded.then(toResult) : toResult(decoded)
  }
  const authorization = { ctx, target, now, grant }
  return callWritten(encoded, authorization, request => attemptWhole({ ...options, request }, read))
}
