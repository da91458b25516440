import { countEmbeddings } from '@rideau/llm/embeddings/count-embeddings'
import type { EmbeddingReply } from '@rideau/llm/embeddings/embedding-format'
import type { EmbeddingServer } from '@rideau/llm/embeddings/embedding-server'
import type { ParsedEmbeddings } from '@rideau/llm/embeddings/parse-request'
import { BODY_LIMIT_BYTES } from '@rideau/llm/json/body-bounds'
import { runAtOnce } from '@rideau/llm/json/run-at-once'
import type { Target } from '@rideau/llm/upstream/target'
import type { Bill } from '@rideau/llm/usage/bill'
import type { TextTokens } from '@rideau/llm/usage/count-texts'
import type { Usage } from '@rideau/llm/usage/usage'
import { toSender } from '../../core/access/to-sender.ts'
import type { MeterSet } from '../../core/limits/list-meters.ts'
import { runSteps } from '../../http/fairness/sliced-work.ts'
import { attemptEmbeddings } from '../attempts/attempt-embeddings.ts'
import type { AttemptResult } from '../attempts/attempt-result.ts'
import { FREE, toAbandonedBill, toBill } from '../billing/bill.ts'
import { answerHeaders } from '../edge/answer-headers.ts'
import { noteModel } from '../request/note-model.ts'
import { noteUser } from '../request/note-user.ts'
import { readJson } from '../request/read-json.ts'
import type { IdentifiedContext } from '../request/request-context.ts'
import { toReservedAmounts } from '../targets/chat-amounts.ts'
import { type EmbeddingTarget, selectEmbeddingTargets } from '../targets/select-embedding-targets.ts'
import type { TargetSelection } from '../targets/target-selection.ts'
import { withoutUser } from '../targets/without-user.ts'
import type { ModelCall, ReadModelCall, ReservedCall } from './model-call.ts'
import type { PipelineDeps } from './pipeline-deps.ts'
import { isSandboxOnly, reserveAmounts } from './reserve-amounts.ts'
import { sendAnswer } from './send-answer.ts'

/** Timeout of each call in milliseconds. A request may need several. */
const DEFAULT_TIMEOUT_MS = 300_000

/** Serves `POST /v1/embeddings` and the embeddings routes of all formats. */
export function readEmbeddings(server: EmbeddingServer): ReadModelCall {
  return async (ctx, pathModel, deps) => {
    const { value, bytes } = await readJson(ctx, BODY_LIMIT_BYTES, deps.bodyTimeoutMs)
    ctx.recordFields.requestBody = bytes
    noteModel(ctx.recordFields, pathModel === '' ? value.model : pathModel)
    const parsed = server.parse(value, { pathModel, isEndUser: ctx.caller.kind === 'client_token' })
    noteUser(ctx.recordFields, parsed.request.user)
    const counting = countEmbeddings(parsed.request)
    const counted = ctx.isLong ? await runSteps(counting, ctx, () => ctx.stopped) : runAtOnce(counting)
    return new EmbeddingsCall(ctx, server, { ...parsed, counted }, bytes.length, deps)
  }
}

interface ReceivedEmbeddings extends ParsedEmbeddings {
  readonly counted: TextTokens
}

interface AnsweredEmbeddings {
  readonly reply: EmbeddingReply
  readonly target: EmbeddingTarget
}

class EmbeddingsCall implements ModelCall<EmbeddingTarget, AnsweredEmbeddings> {
  /** Nothing is asked of a provider for no input. */
  readonly isBilled: boolean
  readonly #ctx: IdentifiedContext
  readonly #server: EmbeddingServer
  readonly #received: ReceivedEmbeddings
  readonly #requestBytes: number
  readonly #deps: PipelineDeps

  constructor(
    ctx: IdentifiedContext,
    server: EmbeddingServer,
    received: ReceivedEmbeddings,
    requestBytes: number,
    deps: PipelineDeps,
  ) {
    this.#ctx = ctx
    this.#server = server
    this.#received = received
    this.#requestBytes = requestBytes
    this.#deps = deps
    this.isBilled = received.request.input.length > 0
  }

  get endUser(): ParsedEmbeddings['endUser'] {
    return this.#received.endUser
  }

  get findings(): ParsedEmbeddings['findings'] {
    return this.#received.findings
  }

  countInput(): number {
    return this.#received.counted.likely
  }

  selectTargets(limits: MeterSet): TargetSelection<EmbeddingTarget> {
    const { caller, environment, route } = this.#ctx
    const { request, unknownFields = [] } = this.#received
    const { mount } = route
    const selection = selectEmbeddingTargets(
      { request, unknownFields, inputTokens: this.countInput(), caller, environment, limits, mount },
      this.#deps,
    )
    // The targets of an alias are compared by their latency, and no provider is timed.
    return this.isBilled ? selection : { targets: selection.targets, alias: undefined, isStream: false }
  }

  /** Reserves the maximum, since the answer cannot be cut. There is no output. */
  reserve(
    selection: TargetSelection<EmbeddingTarget>,
    limits: MeterSet,
  ): ReservedCall<EmbeddingTarget> | Promise<ReservedCall<EmbeddingTarget>> {
    const amounts = toReservedAmounts(selection.targets, {
      input: this.#received.counted.most,
      audioInput: 0,
      output: 0,
      mayWriteCache: false,
    })
    const estimate = limits.hasAmountMeter ? { inputTokens: this.countInput(), outputTokens: 0 } : undefined
    const reserved = { selection, estimate }
    const request = { limits, isSandbox: isSandboxOnly(selection), amounts }
    return reserveAmounts(this.#ctx, this.#deps, request)?.then(() => reserved) ?? reserved
  }

  async attempt(target: Target, resolved: EmbeddingTarget): Promise<AttemptResult<AnsweredEmbeddings>> {
    const { format, decodeError, provider, alias } = resolved
    if (!this.isBilled) return { ok: true, status: 200, value: { reply: NO_VECTORS, target: resolved } }
    const result = await attemptEmbeddings({
      ctx: this.#ctx,
      transport: provider.sandbox === true ? this.#deps.sandbox : this.#deps.http,
      format,
      decodeError,
      target,
      sender: toSender(this.#ctx.caller, this.#ctx.environment),
      request: withoutUser(this.#received.request, this.#ctx),
      timeoutMs: alias?.timeoutMs ?? DEFAULT_TIMEOUT_MS,
      now: this.#deps.now,
    })
    if (result.ok) return { ...result, value: { reply: result.value, target: resolved } }
    if (result.charge === undefined) return result
    // The same is billed whether an answer arrived, since there is no output.
    const charge = { ...result.charge, usage: undefined }
    const abandoned = { inputTokens: this.countInput(), outputTokens: 0 }
    return { ...result, bill: toAbandonedBill(resolved.catalogModel, charge, abandoned) }
  }

  #toBill(target: EmbeddingTarget, reply: EmbeddingReply): Bill {
    return toBill(target.catalogModel, toUsage(reply), {
      requestBytes: this.#requestBytes,
      inputTokens: this.countInput(),
      deliveredTokens: 0,
      choices: this.#received.request.input.length,
      reservedTokens: this.#ctx.reservation?.amounts.tokens,
    })
  }

  async answer({ reply, target }: AnsweredEmbeddings): Promise<void> {
    const bill = this.isBilled ? this.#toBill(target, reply) : FREE
    this.#ctx.recordFields.answered = bill
    const context = {
      model: target.id,
      provider: target.provider.id,
      isSandbox: target.provider.sandbox === true,
      requestId: this.#ctx.requestId,
      elapsedMs: this.#ctx.elapsedMs(),
    }
    const steps = this.#server.encodeReply(context, this.#received.request, reply, bill)
    const ctx = this.#ctx
    const bytes = isLong(reply) ? await runSteps(steps, ctx, () => ctx.stopped) : runAtOnce(steps)
    const headers = answerHeaders(ctx, target, 'application/json', this.#deps)
    const outcome = { status: 200, bill, finishReason: 'stop' }
    await sendAnswer(ctx, bytes, { headers, outcome }, this.#deps)
  }
}

/** Numbers, or characters of base64, that take about a millisecond to encode. */
const SHORT = 8_192

function isLong({ vectors }: EmbeddingReply): boolean {
  let length = 0
  return vectors.some(vector => {
    length += vector.length
    return length > SHORT
  })
}

const NO_VECTORS: EmbeddingReply = { vectors: [], inputTokens: 0 }

function toUsage({ inputTokens, costNanoUsd }: EmbeddingReply): Usage | undefined {
  if (inputTokens === undefined) return undefined
  const usage = { uncachedInput: inputTokens, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 }
  return costNanoUsd === undefined ? usage : { ...usage, reportedCostNanoUsd: costNanoUsd }
}
