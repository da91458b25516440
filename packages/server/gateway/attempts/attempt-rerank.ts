import type { ClientFormat } from '@rideau/llm/formats/shared/client-format'
import { readAnsweredModel } from '@rideau/llm/reply/answered-model'
import type { RerankFormat, RerankReply, RerankRequest } from '@rideau/llm/rerank/rerank-format'
import type { Sender } from '@rideau/llm/upstream/outgoing-rules'
import type { Target } from '@rideau/llm/upstream/target'
import type { RequestContext } from '../request/request-context.ts'
import type { Transport } from '../upstream/transport.ts'
import type { AttemptResult } from './attempt-result.ts'
import {
  attemptWhole,
  parseAnswer,
  reportsError,
  toErrorText,
  unreadable,
  type WholeAnswer,
} from './attempt-whole.ts'
import { callWritten } from './authorize-written.ts'
import { ONE_ANSWER, toGrant } from './to-grant.ts'

export interface RerankAttempt {
  readonly ctx: RequestContext
  readonly transport: Transport
  readonly format: RerankFormat
  readonly decodeError: ClientFormat['decodeError']
  readonly target: Target
  readonly request: RerankRequest
  readonly sender: Sender
  readonly timeoutMs: number
  /** Unix milliseconds. */
  readonly now: () => number
}

/** One attempt at an order of documents. The results are those that the caller asked for, however many the provider sends. */
export function attemptRerank(options: RerankAttempt): Promise<AttemptResult<RerankReply>> {
  const { ctx, transport, format, decodeError, target, request: asked, sender, timeoutMs, now } = options
  const { length } = asked.documents
  const encoded = format.encodeRequest(asked, target)
  const read = (answer: WholeAnswer): AttemptResult<RerankReply> => {
    const { status, readHeaders } = answer
    const parsed = parseAnswer(answer, decodeError)
    if (!parsed.ok) return parsed
    const reply = format.decodeReply(parsed.body)
    if (reply?.results.every(({ index }) => index < length) === true) {
      const results = reply.results.slice(0, asked.topN ?? length)
      return { ok: true, status, value: { ...reply, results }, model: readAnsweredModel(parsed.body) }
    }
    if (reportsError(parsed.body)) {
      return { ok: false, error: decodeError(status, readHeaders(), toErrorText(answer.bytes)) }
    }
    return unreadable(answer, 'the answer does not order the documents')
  }
  const authorization = { ctx, target, now, grant: toGrant(sender, target, ONE_ANSWER) }
  return callWritten(encoded, authorization, request =>
    attemptWhole({ ctx, transport, request, timeoutMs }, read),
  )
}
