import type { ParsedChat } from '@rideau/llm/formats/shared/parsed-chat'
import type { Answered, ChatServer } from '@rideau/llm/formats/shared/server-format'
import type { ChatRequest } from '@rideau/llm/request/chat-request'
import type { SourceBody } from '@rideau/llm/request/source-body'
import { authorizeRequest } from '@rideau/llm/upstream/authorize-request'
import type { Target } from '@rideau/llm/upstream/target'
import type { Bill } from '@rideau/llm/usage/bill'
import { estimateTokens } from '@rideau/llm/usage/estimate'
import type { MeterSet } from '../../core/list-meters.ts'
import { toHeaderList } from '../../http/header-text.ts'
import type { AttemptOptions } from '../attempts/attempt-plain.ts'
import type { AttemptResult } from '../attempts/attempt-result.ts'
import { type FetchedImages, inlineImages, needsImages } from '../attempts/inline-images.ts'
import { type Charge, toAbandonedBill } from '../billing/bill.ts'
import { countInput } from '../billing/count-input.ts'
import { answerHeaders } from '../edge/answer-headers.ts'
import type { CallPlan } from '../plan/call-plan.ts'
import type { ChatPlan, PlannedTarget } from '../plan/chat-plan.ts'
import { planChat, showParam } from '../plan/plan-chat.ts'
import { maxOutput } from '../plan/reserved-amounts.ts'
import type { IdentifiedContext } from '../request/request-context.ts'
import type { ModelCall, Reserved } from './model-call.ts'
import type { PipelineDeps } from './pipeline-deps.ts'
import { reserveChat } from './reserve-chat.ts'

/** Milliseconds for one attempt where the caller names none. */
const DEFAULT_TIMEOUT_MS = 300_000
/** No caller and no alias may go beyond. */
const MAX_TIMEOUT_MS = 600_000

export interface ReceivedChat {
  readonly server: ChatServer
  readonly parsed: ParsedChat
  readonly source: SourceBody
}

/** A chat request with everything that was decided about it, whether its answer is a stream or not. */
export abstract class ChatCall<T> implements ModelCall<PlannedTarget, T> {
  readonly isBilled = true
  protected readonly ctx: IdentifiedContext
  protected readonly deps: PipelineDeps
  protected readonly server: ChatServer
  protected readonly parsed: ParsedChat
  readonly #source: SourceBody
  #plan: ChatPlan | undefined
  #target: PlannedTarget | undefined
  #answered: Answered | undefined
  /** What was fetched for a provider that fetches nothing itself: once for all attempts. */
  readonly #images: FetchedImages = new Map()
  /** Wire names of what the last attempt asked for in another way than the format's own. */
  #emulated: readonly string[] = []

  constructor(ctx: IdentifiedContext, { server, parsed, source }: ReceivedChat, deps: PipelineDeps) {
    this.ctx = ctx
    this.deps = deps
    this.server = server
    this.parsed = parsed
    this.#source = source
  }

  abstract attempt(target: Target, planned: PlannedTarget): Promise<AttemptResult<T>>
  abstract answer(value: T): Promise<void>

  get endUser(): ParsedChat['endUser'] {
    return this.parsed.endUser
  }

  get findings(): ParsedChat['findings'] {
    return this.parsed.findings
  }

  protected get reserved(): ChatPlan['reserved'] {
    return this.#plan?.reserved
  }

  protected get requestBytes(): number {
    return this.#source.bytes.length
  }

  /** The target that is being tried, or that answers. */
  protected get target(): PlannedTarget {
    if (this.#target === undefined) throw new Error('no target was tried yet')
    return this.#target
  }

  protected get answered(): Answered {
    this.#answered ??= this.#toAnswered(this.target)
    return this.#answered
  }

  plan(limits: MeterSet): ChatPlan {
    const { caller, environment } = this.ctx
    return planChat(this.parsed, this.#source, caller, environment, limits, this.deps)
  }

  reserve(
    plan: CallPlan<PlannedTarget>,
    limits: MeterSet,
  ): Reserved<PlannedTarget> | Promise<Reserved<PlannedTarget>> {
    const reserving = reserveChat(this.ctx, plan as ChatPlan, limits, this.deps)
    return reserving instanceof Promise
      ? reserving.then(each => this.#toReserved(each))
      : this.#toReserved(reserving)
  }

  #toReserved(plan: ChatPlan): Reserved<PlannedTarget> {
    this.#plan = plan
    return { plan, estimate: plan.reserved }
  }

  countInput(): number {
    return countInput(this.parsed.request)
  }

  /** The request as a target takes it, and how it gets there. A promise only where images have to be fetched first. */
  protected toAttempt(target: Target, planned: PlannedTarget): AttemptOptions | Promise<AttemptOptions> {
    this.#setTarget(planned)
    const { format, request } = planned
    const isPassed = format.passesOwn === true && this.#source.format === format.id
    if (isPassed || !needsImages(planned)) return this.#encode(target, planned, request)
    return inlineImages(this.ctx, request, this.#images, this.deps).then(asked =>
      this.#encode(target, planned, asked),
    )
  }

  /** The answer names the target that was tried last. */
  #setTarget(target: PlannedTarget): void {
    if (this.#target === target) return
    this.#target = target
    this.#answered = undefined
  }

  #toAnswered({ provider, format, id }: PlannedTarget): Answered {
    const { ctx, parsed } = this
    return {
      requestId: ctx.requestId,
      created: Math.floor(ctx.arrivedAt / 1000),
      clock: ctx,
      model: id,
      provider: provider.id,
      format: format.id,
      isSandbox: provider.sandbox === true,
      includeUsage: parsed.request.includeUsage,
      rewritesUsage: provider.openai?.completionExcludesReasoning === true,
      call: parsed,
    }
  }

  #encode(target: Target, planned: PlannedTarget, asked: ChatRequest): AttemptOptions {
    const { provider, alias, format, dropped } = planned
    const request = format.encodeRequest(asked, target, this.#source, dropped)
    authorizeRequest(request, target, this.deps.now())
    this.#emulated = request.emulated ?? []
    return {
      ctx: this.ctx,
      transport: provider.sandbox === true ? this.deps.sandbox : this.deps.http,
      format,
      target,
      request,
      timeoutMs: Math.min(this.parsed.timeoutMs ?? DEFAULT_TIMEOUT_MS, alias?.timeoutMs ?? MAX_TIMEOUT_MS),
    }
  }

  /** An attempt that left and was not answered may be charged for: with what is billed for it. */
  protected withBill<R>(result: AttemptResult<R>): AttemptResult<R> {
    if (result.ok || result.charge === undefined) return result
    return { ...result, bill: this.#toAbandonedBill(result.charge) }
  }

  /**
   * The counted input, and as output what came of it by its bytes. A plain answer that its provider made but that cannot be
   * read may have been as long as any: it counts as what this key's answers by this model are known to use, or where that
   * is not known as what is held.
   */
  #toAbandonedBill(charge: Charge): Bill {
    const { reserved, target } = this
    // No more than was asked for, whatever came: an error page can be large.
    const maxTokens = reserved?.maxOutputTokens ?? maxOutput(target).tokens
    let outputTokens = Math.min(maxTokens, estimateTokens(charge.bytes))
    if (charge.isAnswered && !this.parsed.request.stream && reserved !== undefined) {
      const p99 = this.deps.learned.find(this.ctx.caller.keyId, target.id)?.p99
      outputTokens = Math.min(reserved.outputTokens, Math.max(outputTokens, p99 ?? reserved.outputTokens))
    }
    const inputTokens = reserved?.inputTokens ?? this.countInput()
    return toAbandonedBill(target.catalogModel, charge, { inputTokens, outputTokens })
  }

  /** See answerHeaders; what the format had no word for is named too. */
  protected headers(contentType: string): string[] {
    const { target } = this
    const { dropped } = target
    const named =
      dropped.length === 0
        ? target
        : { ...target, dropped: dropped.map(name => showParam(name, this.parsed)) }
    const headers = answerHeaders(this.ctx, named, contentType, this.deps)
    if (this.#emulated.length > 0) headers.push('X-Rideau-Emulated-Params', toHeaderList(this.#emulated))
    return headers
  }
}
