import { BODY_LIMIT_BYTES } from '@rideau/llm/json/body-bounds'
import { toSentJson } from '@rideau/llm/json/unwritten-json'
import type { ParsedRerank } from '@rideau/llm/rerank/parse-request'
import type { RerankReply } from '@rideau/llm/rerank/rerank-format'
import type { RerankServer } from '@rideau/llm/rerank/rerank-server'
import type { Target } from '@rideau/llm/upstream/target'
import { toSender } from '../../core/access/to-sender.ts'
import type { MeterSet } from '../../core/limits/list-meters.ts'
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
    return new RerankCall(ctx, server, server.parse(value, ctx.caller.kind === 'client_token'), deps)
  }
}

interface AnsweredRerank {
  readonly reply: RerankReply
  readonly target: RerankTarget
}

class RerankCall implements ModelCall<RerankTarget, AnsweredRerank> {
  readonly isBilled = true
  readonly #ctx: IdentifiedContext
  readonly #server: RerankServer
  readonly #parsed: ParsedRerank
  readonly #deps: PipelineDeps

  constructor(ctx: IdentifiedContext, server: RerankServer, parsed: ParsedRerank, deps: PipelineDeps) {
    this.#ctx = ctx
    this.#server = server
    this.#parsed = parsed
    this.#deps = deps
  }

  get endUser(): ParsedRerank['endUser'] {
    return this.#parsed.endUser
  }

  get findings(): ParsedRerank['findings'] {
    return this.#parsed.findings
  }

  countInput(): number {
    return this.#parsed.counted.likely.inputTokens
  }

  selectTargets(limits: MeterSet): TargetSelection<RerankTarget> {
    const { caller, environment, route } = this.#ctx
    const { mount } = route
    return selectRerankTargets({ parsed: this.#parsed, caller, environment, limits, mount }, this.#deps)
  }

  /** Reserves the maximum, since the answer cannot be cut. */
  reserve(
    selection: TargetSelection<RerankTarget>,
    limits: MeterSet,
  ): ReservedCall<RerankTarget> | Promise<ReservedCall<RerankTarget>> {
    const amounts = toReservedRerankAmounts(this.#parsed.counted, selection.targets)
    const estimate = limits.hasAmountMeter ? { inputTokens: this.countInput(), outputTokens: 0 } : undefined
    const reserved = { selection, estimate }
    const request = { limits, isSandbox: isSandboxOnly(selection), amounts }
    return reserveAmounts(this.#ctx, this.#deps, request)?.then(() => reserved) ?? reserved
  }

  async attempt(target: Target, resolved: RerankTarget): Promise<AttemptResult<AnsweredRerank>> {
    const { format, decodeError, provider, alias } = resolved
    const { request } = this.#parsed
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
    const { bill } = toRerankBill(this.#parsed.counted, resolved, {
      searches: undefined,
      inputTokens: undefined,
    })
    return { ...result, bill }
  }

  async answer({ reply, target }: AnsweredRerank): Promise<void> {
    const { request, counted } = this.#parsed
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
