import { BODY_LIMIT_BYTES } from '@rideau/llm/json/body-bounds'
import { runAtOnce } from '@rideau/llm/json/run-at-once'
import { toSentJson } from '@rideau/llm/json/unwritten-json'
import type { ParsedRerank } from '@rideau/llm/rerank/parse-request'
import type { RerankReply } from '@rideau/llm/rerank/rerank-format'
import { type CountedRerank, countRerank } from '@rideau/llm/rerank/rerank-pricing'
import type { RerankServer } from '@rideau/llm/rerank/rerank-server'
import type { Target } from '@rideau/llm/upstream/target'
import { toSender } from '../../core/access/to-sender.ts'
import type { MeterSet } from '../../core/limits/list-meters.ts'
import { runSteps } from '../../http/fairness/sliced-work.ts'
import { attemptRerank } from '../attempts/attempt-rerank.ts'
import type { AttemptResult } from '../attempts/attempt-result.ts'
import { toRerankBill, toReservedRerankAmounts } from '../billing/rerank-amounts.ts'
import { answerHeaders } from '../edge/answer-headers.ts'
import { noteModel } from '../request/note-model.ts'
import { readJson } from '../request/read-json.ts'
import type { IdentifiedContext } from '../request/request-context.ts'
import { type RerankTarget, selectRerankTargets } from '../targets/select-rerank-targets.ts'
import type { TargetSelection } from '../targets/target-selection.ts'
import type { ModelCall, ReadModelCall, ReservedCall } from './model-call.ts'
import type { PipelineDeps } from './pipeline-deps.ts'
import { isSandboxOnly, reserveAmounts } from './reserve-amounts.ts'
import { sendAnswer } from './send-answer.ts'

const DEFAULT_TIMEOUT_MS = 300_000

/** Serves `POST /v1/rerank` and the rerank routes of other formats. */
export function readRerank(server: RerankServer): ReadModelCall {
  return async (ctx, _pathModel, deps) => {
    const { value, bytes } = await readJson(ctx, BODY_LIMIT_BYTES, deps.bodyTimeoutMs)
    ctx.recordFields.requestBody = bytes
    noteModel(ctx.recordFields, value.model)
    const parsed = server.parse(value, ctx.caller.kind === 'client_token')
    // In turns, since ten thousand documents may have megabytes.
    const counting = countRerank(parsed.request)
    const counted = ctx.isLong ? await runSteps(counting, ctx, () => ctx.stopped) : runAtOnce(counting)
    return new RerankCall(ctx, server, { ...parsed, counted }, deps)
  }
}

interface ReceivedRerank extends ParsedRerank {
  readonly counted: CountedRerank
}

interface AnsweredRerank {
  readonly reply: RerankReply
  readonly target: RerankTarget
}

class RerankCall implements ModelCall<RerankTarget, AnsweredRerank> {
  readonly isBilled = true
  readonly #ctx: IdentifiedContext
  readonly #server: RerankServer
  readonly #received: ReceivedRerank
  readonly #deps: PipelineDeps

  constructor(ctx: IdentifiedContext, server: RerankServer, received: ReceivedRerank, deps: PipelineDeps) {
    this.#ctx = ctx
    this.#server = server
    this.#received = received
    this.#deps = deps
  }

  get endUser(): ParsedRerank['endUser'] {
    return this.#received.endUser
  }

  get findings(): ParsedRerank['findings'] {
    return this.#received.findings
  }

  countInput(): number {
    return this.#received.counted.likely.inputTokens
  }

  selectTargets(limits: MeterSet): TargetSelection<RerankTarget> {
    const { caller, environment, route } = this.#ctx
    const { mount } = route
    const { counted } = this.#received
    return selectRerankTargets(
      { parsed: this.#received, counted, caller, environment, limits, mount },
      this.#deps,
    )
  }

  /** Reserves the maximum, since the answer cannot be cut. */
  reserve(
    selection: TargetSelection<RerankTarget>,
    limits: MeterSet,
  ): ReservedCall<RerankTarget> | Promise<ReservedCall<RerankTarget>> {
    const amounts = toReservedRerankAmounts(this.#received.counted, selection.targets)
    const estimate = limits.hasAmountMeter ? { inputTokens: this.countInput(), outputTokens: 0 } : undefined
    const reserved = { selection, estimate }
    const request = { limits, isSandbox: isSandboxOnly(selection), amounts }
    return reserveAmounts(this.#ctx, this.#deps, request)?.then(() => reserved) ?? reserved
  }

  async attempt(target: Target, resolved: RerankTarget): Promise<AttemptResult<AnsweredRerank>> {
    const { format, decodeError, provider, alias } = resolved
    const { request } = this.#received
    const result = await attemptRerank({
      ctx: this.#ctx,
      transport: provider.sandbox === true ? this.#deps.sandbox : this.#deps.http,
      format,
      decodeError,
      target,
      sender: toSender(this.#ctx.caller, this.#ctx.environment),
      request,
      timeoutMs: alias?.timeoutMs ?? DEFAULT_TIMEOUT_MS,
      now: this.#deps.now,
    })
    if (result.ok) return { ...result, value: { reply: result.value, target: resolved } }
    if (result.charge === undefined) return result
    // The same is billed whether an answer arrived, since there is no output.
    const { bill } = toRerankBill(this.#received.counted, resolved, {
      searches: undefined,
      inputTokens: undefined,
    })
    return { ...result, bill }
  }

  async answer({ reply, target }: AnsweredRerank): Promise<void> {
    const { request, counted } = this.#received
    const { bill, searches } = toRerankBill(counted, target, reply.usage)
    this.#ctx.recordFields.answered = bill
    const context = {
      model: target.id,
      provider: target.provider.id,
      isSandbox: target.provider.sandbox === true,
      requestId: this.#ctx.requestId,
      searches,
    }
    const body = toSentJson(this.#server.encodeReply(context, request, reply, bill))
    const headers = answerHeaders(this.#ctx, target, 'application/json', this.#deps)
    const outcome = { status: 200, bill, finishReason: 'stop' }
    await sendAnswer(this.#ctx, body, { headers, outcome }, this.#deps)
  }
}
