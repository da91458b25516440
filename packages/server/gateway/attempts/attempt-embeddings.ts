import type {
  EmbeddingFormat,
  EmbeddingReply,
  EmbeddingRequest,
  Vector,
} from '@rideau/llm/embeddings/embedding-format'
import { maxInputsOf } from '@rideau/llm/embeddings/find-embedding-format'
import type { ClientFormat } from '@rideau/llm/formats/shared/client-format'
import { authorizeRequest } from '@rideau/llm/upstream/authorize-request'
import type { Target } from '@rideau/llm/upstream/target'
import type { Charge } from '../billing/bill.ts'
import type { RequestContext } from '../request/request-context.ts'
import type { Transport } from '../upstream/transport.ts'
import type { AttemptResult } from './attempt-result.ts'
import { attemptWhole, parseAnswer, unreadable, type Watched } from './attempt-whole.ts'
import { WatchGroup } from './watch-group.ts'

export interface EmbeddingAttempt {
  readonly ctx: RequestContext
  readonly transport: Transport
  readonly format: EmbeddingFormat
  readonly decodeError: ClientFormat['decodeError']
  readonly target: Target
  readonly request: EmbeddingRequest
  /** Milliseconds for each call. */
  readonly timeoutMs: number
  /** Unix milliseconds. */
  readonly now: () => number
}

/** Calls of one request that run side by side, where a provider takes few inputs a call. */
const MAX_PARALLEL = 8

/** One try for all vectors: as many calls as the provider's limit on inputs makes it. The first failure ends them all. */
export async function attemptEmbeddings(options: EmbeddingAttempt): Promise<AttemptResult<EmbeddingReply>> {
  const { request, format, target, ctx } = options
  const batches = toBatches(request, maxInputsOf(target.provider, format, target.model))
  const replies: EmbeddingReply[] = []
  const group = new WatchGroup(ctx)
  let failure: (AttemptResult<EmbeddingReply> & { ok: false }) | undefined
  let charge: Charge | undefined
  let next = 0
  let status = 200
  const work = async (): Promise<void> => {
    while (failure === undefined && next < batches.length) {
      const index = next++
      const result = await attemptOne(options, batches[index] as EmbeddingRequest, group.open())
      // Of several calls those that were answered are paid for though the whole fails.
      charge ??= result.ok ? { isAnswered: true, bytes: 0 } : result.charge
      if (result.ok) {
        replies[index] = result.value
        status = result.status
      } else if (failure === undefined) {
        failure = result
        group.stop()
      }
    }
  }
  try {
    await Promise.all(Array.from({ length: Math.min(MAX_PARALLEL, batches.length) }, work))
  } catch (error) {
    // An exception of ours in one call: the others are for nothing.
    group.stop()
    throw error
  } finally {
    group.close()
  }
  if (failure !== undefined) return { ...failure, charge }
  return { ok: true, status, value: join(replies) }
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

function attemptOne(
  { transport, format, decodeError, target, timeoutMs, now }: EmbeddingAttempt,
  batch: EmbeddingRequest,
  ctx: Watched,
): Promise<AttemptResult<EmbeddingReply>> {
  const request = format.encodeRequest(batch, target)
  authorizeRequest(request, target, now())
  return attemptWhole({ ctx, transport, request, timeoutMs }, answer => {
    const { status, readHeaders } = answer
    const parsed = parseAnswer(answer, decodeError)
    if (!parsed.ok) return parsed
    const reply = format.decodeReply(parsed.body, readHeaders(), target)
    if (reply?.vectors.length === batch.input.length) return { ok: true, status, value: reply }
    if (parsed.body.error !== undefined) {
      return { ok: false, error: decodeError(status, readHeaders(), answer.bytes.toString('utf8')) }
    }
    return unreadable(answer, 'the answer has not a vector for each input')
  })
}

function join(replies: readonly EmbeddingReply[]): EmbeddingReply {
  const vectors: Vector[] = []
  let inputTokens: number | undefined = 0
  for (const reply of replies) {
    for (const vector of reply.vectors) vectors.push(vector)
    // One call without a count leaves the whole without one.
    inputTokens =
      inputTokens === undefined || reply.inputTokens === undefined
        ? undefined
        : inputTokens + reply.inputTokens
  }
  const costs = replies.map(({ costNanoUsd }) => costNanoUsd)
  const cost = costs.every(each => each !== undefined)
    ? costs.reduce((sum, each) => sum + each, 0)
    : undefined
  return { vectors, inputTokens, ...(cost === undefined ? {} : { costNanoUsd: cost }) }
}
