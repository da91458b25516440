import type { PlainAnswer } from '@rideau/llm/formats/shared/answers/plain-answer'
import type { ClientFormat } from '@rideau/llm/formats/shared/client-format'
import { readAnsweredModel } from '@rideau/llm/reply/answered-model'
import { assertBoundedAnswer } from '@rideau/llm/reply/bounded-answer'
import type { ChatReply } from '@rideau/llm/reply/chat-reply'
import { MAX_DETAILS, tooManyDetails } from '@rideau/llm/reply/reasoning-detail'
import type { Target } from '@rideau/llm/upstream/target'
import type { UpstreamRequest } from '@rideau/llm/upstream/upstream-request'
import type { RequestContext } from '../request/request-context.ts'
import type { Transport } from '../upstream/transport.ts'
import { AnsweredCalls } from './answered-calls.ts'
import type { AttemptResult } from './attempt-result.ts'
import {
  attemptWhole,
  parseAnswer,
  reportsError,
  toErrorText,
  toReportedCharge,
  unreadable,
} from './attempt-whole.ts'

export interface AttemptOptions {
  readonly ctx: RequestContext
  readonly transport: Transport
  readonly format: ClientFormat
  readonly target: Target
  readonly request: UpstreamRequest
  /** Milliseconds within which the whole answer, or the first event of a stream, must arrive. */
  readonly timeoutMs: number
  /** The provider may run tools that fetch documents, which the answer then holds. Absent: none. */
  readonly mayFetch?: boolean
}

/** One attempt at a plain answer. Resolves with a classified error when the call fails. */
export function attemptPlain(options: AttemptOptions): Promise<AttemptResult<PlainAnswer>> {
  const { format, target } = options
  return attemptWhole(options, answer => {
    const { status, readHeaders, bytes, json } = answer
    const parsed = parseAnswer(answer, format.decodeError)
    if (!parsed.ok) return parsed
    const { body } = parsed
    assertBoundedAnswer(body)
    const reply = format.decodeReply(body, target)
    assertBounded(reply)
    if (reply.choices.length > 0) {
      const value = { bytes, body, fields: json?.fields, reply }
      return { ok: true, status, value, model: readAnsweredModel(body) }
    }
    if (reportsError(body)) {
      const error = format.decodeError(status, readHeaders(), toErrorText(bytes))
      return { ok: false, error, charge: toReportedCharge(reply.usage, bytes.length) }
    }
    return unreadable(answer, 'the answer has no choices', reply.usage)
  })
}

/** Throws if the answer has more tool calls or details of reasoning than a stream may have. */
function assertBounded({ choices }: ChatReply): void {
  let calls: AnsweredCalls | undefined
  let details = 0
  for (const { message } of choices) {
    details += message.reasoning_details?.length ?? 0
    if (details > MAX_DETAILS) throw tooManyDetails()
    if (message.tool_calls === undefined) continue
    calls ??= new AnsweredCalls()
    calls.add(message.tool_calls)
  }
}
