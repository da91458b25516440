import type { PlainAnswer } from '@rideau/llm/formats/plain-answer'
import { decodeText } from '@rideau/llm/frames/decode-text'
import type { ClientDialect, Target, UpstreamRequest } from '@rideau/llm/spec'
import type { AttemptResult } from './attempt-result.ts'
import type { Exchange } from '../request/request-context.ts'
import { attemptWhole, parseAnswer, unreadable } from './attempt-whole.ts'
import type { Transport } from '../upstream/transport.ts'

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
  const { dialect, target } = options
  return attemptWhole(options, answer => {
    const { status, readHeaders, bytes } = answer
    const parsed = parseAnswer(answer, dialect.decodeError)
    if (!parsed.ok) return parsed
    const { body } = parsed
    const reply = dialect.decodeReply(body, target)
    if (reply.choices.length > 0) return { ok: true, status, value: { bytes, body, reply } }
    if (body.error !== undefined) {
      return { ok: false, error: dialect.decodeError(status, readHeaders(), decodeText(bytes)) }
    }
    return unreadable(answer, 'the answer has no choices', reply.usage)
  })
}
