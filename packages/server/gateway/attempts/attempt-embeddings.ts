import type {
  EmbeddingFormat,
  EmbeddingReply,
  EmbeddingRequest,
  Vector,
} from '@rideau/llm/embeddings/embedding-format'
import { maxInputsOf } from '@rideau/llm/embeddings/find-embedding-format'
import type { ClientFormat } from '@rideau/llm/formats/shared/client-format'
import { readAnsweredModel } from '@rideau/llm/reply/answered-model'
import type { Sender } from '@rideau/llm/upstream/outgoing-rules'
import type { Target } from '@rideau/llm/upstream/target'
import type { Charge } from '../billing/bill.ts'
import type { RequestContext } from '../request/request-context.ts'
import type { Transport } from '../upstream/transport.ts'
import type { AttemptResult } from './attempt-result.ts'
import {
  attemptWhole,
  parseAnswer,
  reportsError,
  toErrorText,
  unreadable,
  type WatchedContext,
  type WholeAnswer,
} from './attempt-whole.ts'
import { callWritten } from './authorize-written.ts'
import { ONE_ANSWER, toGrant } from './to-grant.ts'
import { WatchGroup } from './watch-group.ts'

export interface EmbeddingAttempt {
  readonly ctx: RequestContext
  readonly transport: Transport
  readonly format: EmbeddingFormat
  readonly decodeError: ClientFormat['decodeError']
  readonly target: Target
  readonly request: EmbeddingRequest
  readonly sender: Sender
  /** Timeout of each call, in milliseconds. */
  readonly timeoutMs: number
  /** Unix milliseconds. */
  readonly now: () => number
}

/** Concurrent calls of one request to a provider that limits the inputs of a call. */
const MAX_PARALLEL = 8

/**
 * One attempt at all vectors. Splits the inputs into as many calls as the provider's limit requires. The first failure
 * ends all calls.
 */
export async function attemptEmbeddings(options: EmbeddingAttempt): Promise<AttemptResult<EmbeddingReply>> {
  const { request, format, target, ctx } = options
  const batches = toBatches(request, maxInputsOf(target.provider, format, target.model))
  const replies: EmbeddingReply[] = []
  const group = new WatchGroup(ctx)
  let failure: (AttemptResult<EmbeddingReply> & { ok: false }) | undefined
  let charge: Charge | undefined
  const kept = { bytes: 0 }
  let next = 0
  let status = 200
  let model: string | undefined
  const work = async (): Promise<void> => {
    while (failure === undefined && next < batches.length) {
      const index = next++
      const result = await attemptOne(options, batches[index] as EmbeddingRequest, group.open(), kept)
      // Calls that were answered are charged even if the attempt as a whole fails.
      charge ??= result.ok ? { isAnswered: true, bytes: 0 } : result.charge
      if (result.ok) {
        replies[index] = result.value
        status = result.status
        model = result.model
      } else if (failure === undefined) {
        failure = result
        group.stop()
      }
    }
  }
  try {
    await Promise.all(Array.from({ length: Math.min(MAX_PARALLEL, batches.length) }, work))
  } catch (error) {
    // A call threw an exception of the gateway's own: the other calls are useless.
    group.stop()
    throw error
  } finally {
    group.close()
  }
  if (failure !== undefined) {
    ctx.permit?.dropReceived(kept.bytes)
    return { ...failure, charge }
  }
  return { ok: true, status, value: join(replies), model }
}

function toBatches(request: EmbeddingRequest, maxInputs: number): EmbeddingRequest[] {
  const { input } = request
  if (input.length <= maxInputs) return [request]
  const batches: EmbeddingRequest[] = []
  for (let at = 0; at < input.length; at += maxInputs) {
    batches.push({ ...request, input: input.slice(at, at + maxInputs) as EmbeddingRequest['input'] })
  }
  return batches
}

/** `kept`: what the permit counts of the calls that were answered. */
function attemptOne(
  { transport, format, decodeError, target, sender, timeoutMs, now }: EmbeddingAttempt,
  batch: EmbeddingRequest,
  ctx: WatchedContext,
  kept: { bytes: number },
): Promise<AttemptResult<EmbeddingReply>> {
  const encoded = format.encodeRequest(batch, target)
  const read = (answer: WholeAnswer): AttemptResult<EmbeddingReply> => {
    const { status, readHeaders } = answer
    const parsed = parseAnswer(answer, decodeError)
    if (!parsed.ok) return parsed
    const reply = format.decodeReply(parsed.body, readHeaders(), target)
    if (reply?.vectors.length === batch.input.length) {
      // The vectors are kept until those of all calls have come, their text is not.
      const bytes = Math.min(answer.bytes.length, measure(reply.vectors))
      ctx.permit?.dropReceived(answer.bytes.length - bytes)
      kept.bytes += bytes
      return { ok: true, status, value: reply, model: readAnsweredModel(parsed.body) }
    }
    if (reportsError(parsed.body)) {
      return { ok: false, error: decodeError(status, readHeaders(), toErrorText(answer.bytes)) }
    }
    return unreadable(answer, 'the answer lacks vectors of some inputs')
  }
  const authorization = { ctx, target, now, grant: toGrant(sender, target, ONE_ANSWER) }
  return callWritten(encoded, authorization, request =>
    attemptWhole({ ctx, transport, request, timeoutMs }, read),
  )
}

/** The bytes that vectors take. */
function measure(vectors: readonly Vector[]): number {
  return vectors.reduce((sum, vector) => sum + vector.length * (typeof vector === 'string' ? 1 : 8), 0)
}

function join(replies: readonly EmbeddingReply[]): EmbeddingReply {
  const vectors: Vector[] = []
  let inputTokens: number | undefined = 0
  for (const reply of replies) {
    for (const vector of reply.vectors) vectors.push(vector)
    // The total is unknown if one call reported no count, or none of what it read.
    inputTokens =
      inputTokens === undefined || reply.inputTokens === undefined || reply.inputTokens === 0
        ? undefined
        : inputTokens + reply.inputTokens
  }
  const costs = replies.map(({ costNanoUsd }) => costNanoUsd)
  const cost = costs.every(cost => cost !== undefined)
    ? costs.reduce((sum, cost) => sum + cost, 0)
    : undefined
  return { vectors, inputTokens, ...(cost === undefined ? {} : { costNanoUsd: cost }) }
}
