import { keepFirstCall } from '@rideau/llm/formats/shared/adapted/keep-first-call'
import { withoutFence } from '@rideau/llm/formats/shared/adapted/without-fence'
import { noFindings } from '@rideau/llm/formats/shared/requests/findings'
import type { ParsedChat } from '@rideau/llm/formats/shared/requests/parsed-chat'
import type { ChatServer, ReplyContext } from '@rideau/llm/formats/shared/server-format'
import type { Json } from '@rideau/llm/json/json-value'
import type { ChatRequest } from '@rideau/llm/request/chat-request'
import type { SourceBody } from '@rideau/llm/request/source-body'
import type { Target } from '@rideau/llm/upstream/target'
import type { UpstreamRequest } from '@rideau/llm/upstream/upstream-request'
import type { Bill } from '@rideau/llm/usage/bill'
import type { Usage } from '@rideau/llm/usage/usage'
import { toSender } from '../../core/access/to-sender.ts'
import { isRefusedReasoning } from '../../core/attempts/refused-reasoning.ts'
import type { MeterSet } from '../../core/limits/list-meters.ts'
import { takeCaptured } from '../../core/records/record-line.ts'
import { toHeaderList } from '../../http/answer/header-text.ts'
import { takeTurn } from '../../http/fairness/sliced-work.ts'
import type { AttemptOptions } from '../attempts/attempt-plain.ts'
import type { AttemptResult } from '../attempts/attempt-result.ts'
import { chooseTimeout } from '../attempts/attempt-timeout.ts'
import { authorizeWritten } from '../attempts/authorize-written.ts'
import { type FetchedUrls, inlineImages, needsImages } from '../attempts/inline-images.ts'
import { toGrant, toMediaAddresses } from '../attempts/to-grant.ts'
import type { Charge } from '../billing/bill.ts'
import { countRequest } from '../billing/input-counts.ts'
import { answerHeaders } from '../edge/answer-headers.ts'
import { canceledFault, type IdentifiedContext } from '../request/request-context.ts'
import { contextWindowOf, findLoweredCap, toLikelyInput } from '../targets/chat-amounts.ts'
import type { ChatSelection, ChatTarget } from '../targets/chat-selection.ts'
import { listUnsentFields } from '../targets/list-dropped-fields.ts'
import { selectChatTargets, showParam } from '../targets/select-chat-targets.ts'
import type { TargetSelection } from '../targets/target-selection.ts'
import type { ModelCall, ReservedCall } from './model-call.ts'
import type { PipelineDeps } from './pipeline-deps.ts'
import { reserveChat } from './reserve-chat.ts'
import { findUnseen, toAbandonedChatBill, type UnfinishedChat } from './unfinished-chat.ts'

/** These replace the findings, messages and credentials of a request once its stream is open. Shared, since thousands may be open. */
const NO_FINDINGS: ParsedChat['findings'] = noFindings()
const NOTHING: readonly never[] = []
for (const list of Object.values(NO_FINDINGS)) if (Array.isArray(list)) Object.freeze(list)

export interface ReceivedChat {
  readonly server: ChatServer
  readonly parsed: ParsedChat
  readonly source: SourceBody
  /** The body's `end_user`, not validated yet; see name-end-user.ts. */
  readonly endUser: Json | undefined
}

/** A chat request and everything decided about it. Subclasses answer it as a whole or as a stream. */
export abstract class ChatCall<T> implements ModelCall<ChatTarget, T> {
  readonly isBilled = true
  readonly endUser: Json | undefined
  protected readonly ctx: IdentifiedContext
  protected readonly deps: PipelineDeps
  protected readonly server: ChatServer
  /** In bytes. */
  protected readonly requestBytes: number
  /** Answers that are asked for and billed. */
  readonly #choices: number
  #parsed: ParsedChat
  #source: SourceBody | undefined
  #reserved: ChatSelection['reserved']
  #target: ChatTarget | undefined
  #replyContext: ReplyContext | undefined
  /** Images fetched for providers that do not fetch any. Fetched once for all attempts. */
  #images: FetchedUrls | undefined
  /** Wire names of parameters that the last attempt emulated. */
  #emulated: readonly string[] = []
  #leavesReasoningOut = false

  constructor(ctx: IdentifiedContext, { server, parsed, source, endUser }: ReceivedChat, deps: PipelineDeps) {
    this.ctx = ctx
    this.deps = deps
    this.server = server
    this.endUser = endUser
    this.requestBytes = source.bytes.length
    this.#parsed = parsed
    this.#choices = parsed.findings.choices
    this.#source = source
  }

  abstract attempt(target: Target, resolved: ChatTarget): Promise<AttemptResult<T>>
  abstract answer(value: T): Promise<void>

  get findings(): ParsedChat['findings'] {
    return this.parsed.findings
  }

  /** The type of the streamed answer, since one path may serve streams of two formats. Part of the request's identity. */
  get variant(): string | undefined {
    return this.server.streamType
  }

  protected get parsed(): ParsedChat {
    return this.#parsed
  }

  /**
   * The input tokens to bill if the provider reports no usage. Input whose length is unknown counts as the target's whole context window.
   * undefined: no limit of tokens or money applies, so they were not counted.
   */
  protected get inputTokens(): number | undefined {
    const tokens = this.reserved?.inputTokens
    return tokens === undefined || !this.ctx.needsUsage
      ? tokens
      : Math.min(tokens, contextWindowOf(this.target))
  }

  protected get reserved(): ChatSelection['reserved'] {
    return this.#reserved
  }

  get #body(): SourceBody {
    if (this.#source === undefined) throw new Error('the request body was already dropped')
    return this.#source
  }

  /** The target of the current attempt, or the one that answered. */
  protected get target(): ChatTarget {
    if (this.#target === undefined) throw new Error('no target was attempted yet')
    return this.#target
  }

  protected get replyContext(): ReplyContext {
    this.#replyContext ??= this.#toReplyContext(this.target)
    return this.#replyContext
  }

  selectTargets(limits: MeterSet): ChatSelection {
    return selectChatTargets(this.parsed, this.#body, this.ctx, limits, this.deps)
  }

  reserve(
    selection: TargetSelection<ChatTarget>,
    limits: MeterSet,
  ): ReservedCall<ChatTarget> | Promise<ReservedCall<ChatTarget>> {
    const reserving = reserveChat(this.ctx, selection as ChatSelection, limits, this.deps)
    return reserving instanceof Promise
      ? reserving.then(selection => this.#toReserved(selection))
      : this.#toReserved(reserving)
  }

  #toReserved(selection: ChatSelection): ReservedCall<ChatTarget> {
    this.#reserved = selection.reserved
    return { selection, estimate: selection.reserved }
  }

  countInput(): number {
    const targets = this.#target === undefined ? [] : [this.#target]
    const { likely, unread } = countRequest(this.parsed.request, this.#body, this.deps.random)
    return toLikelyInput(likely, unread, targets)
  }

  /** Returns the request encoded for a target. A promise only if the body is long or images must be fetched first. */
  protected toAttempt(target: Target, resolved: ChatTarget): AttemptOptions | Promise<AttemptOptions> {
    this.#setTarget(resolved)
    const request = this.#leavesReasoningOut
      ? { ...resolved.request, leavesReasoningOut: true as const }
      : resolved.request
    const addresses = toMediaAddresses(toSender(this.ctx.caller, this.ctx.environment), target)
    if (!needsImages(resolved, this.#body.format, addresses)) {
      if (!this.ctx.isLong) return this.#encode(target, resolved, request)
      return takeTurn(this.ctx).then(() => {
        // The wait has no watch, and a later one is not told of a stop that came before it.
        this.ctx.assertNotStopped()
        return this.#encode(target, resolved, request)
      })
    }
    this.#images ??= new Map()
    return inlineImages(this.ctx, request, this.#images, this.deps).then(attempted =>
      this.#encode(target, resolved, attempted),
    )
  }

  /**
   * Drops the content of the request, which no step needs once a stream is open. Received, parsed and sent it takes several
   * times the size of the body, and streams last for minutes. `isBodyInUse`: the provider's call still has the body.
   */
  protected dropContent(isBodyInUse: boolean): void {
    const { model, stream, includeUsage, maxOutputTokens } = this.#parsed.request
    const cap = maxOutputTokens === undefined ? {} : { maxOutputTokens }
    const request = { model, messages: NOTHING, stream, includeUsage, ...cap }
    const { repeated } = this.#parsed
    // These fields may be as large as the body. The others have small bounds, except what an answer repeats.
    this.#parsed = {
      ...this.#parsed,
      request,
      findings: NO_FINDINGS,
      loggedUser: undefined,
    }
    this.#target = { ...this.target, request, credentials: NOTHING }
    this.#source = undefined
    this.#images = undefined
    const { environment, permit, recorder, recordFields } = this.ctx
    const { requestBody } = recordFields
    const isCaptured = environment.logCapture === 'full' && requestBody !== undefined
    recordFields.requestBody = isCaptured ? takeCaptured(requestBody) : undefined
    // What an answer repeats may be most of the body. A recorder counts bytes of the answer by the same permit.
    const keepsPart = isBodyInUse || repeated !== undefined
    if (keepsPart || recorder !== undefined) return
    // The names of what was left out may be most of the body too.
    permit?.releaseAbove((recordFields.requestBody?.length ?? 0) + measureNames(this.target.dropped))
  }

  /** Sets the target that the answer names. */
  #setTarget(target: ChatTarget): void {
    if (this.#target === target) return
    this.#target = target
    this.#replyContext = undefined
    this.ctx.recordFields.outputCap = findLoweredCap(target, this.parsed.request.maxOutputTokens)
  }

  #toReplyContext({ provider, format, id }: ChatTarget): ReplyContext {
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
      parsed,
    }
  }

  #encode(
    target: Target,
    resolved: ChatTarget,
    attempted: ChatRequest,
  ): AttemptOptions | Promise<AttemptOptions> {
    const { provider, alias, format, hosted, keepsFirstCall, catalogModel } = resolved
    const encoded = format.encodeRequest(attempted, target, this.#body, listUnsentFields(resolved))
    const { caller, environment } = this.ctx
    const { stream: isStream, maxOutputTokens } = attempted
    const { choices, uncounted } = this.parsed.findings
    const modelMaxOutput = catalogModel?.max_output_tokens ?? undefined
    const granted = { isStream, choices, maxOutputTokens, modelMaxOutput, hostedTools: hosted?.types }
    const grant = toGrant(toSender(caller, environment), target, granted)
    const emulated = encoded.emulated ?? []
    this.#emulated = keepsFirstCall ? [...emulated, 'parallel_tool_calls'] : emulated
    const answering = emulated.includes('response_format') ? withoutFence(format) : format
    const toOptions = (request: UpstreamRequest): AttemptOptions => ({
      ctx: this.ctx,
      transport: provider.sandbox === true ? this.deps.sandbox : this.deps.http,
      format: keepsFirstCall ? keepFirstCall(answering) : answering,
      target,
      request,
      timeoutMs: chooseTimeout(this.parsed.timeoutMs, alias),
      mayFetch: uncounted.length > 0,
    })
    const request = authorizeWritten(encoded, { ctx: this.ctx, target, now: this.deps.now, grant })
    if (!(request instanceof Promise)) return toOptions(request)
    return request.then(written => {
      if (written === undefined) throw this.ctx.stopped ?? canceledFault()
      return toOptions(written)
    })
  }

  /** Adds the bill of a failed attempt that its provider may charge for, or lets one that it refused be repeated with less. */
  protected conclude<R>(result: AttemptResult<R>): AttemptResult<R> {
    if (result.ok) return result
    if (result.charge !== undefined) return { ...result, bill: this.#toAbandonedBill(result.charge) }
    const { format } = this.target
    if (this.#leavesReasoningOut || format.id !== 'openai-responses' || !isRefusedReasoning(result.error))
      return result
    this.#leavesReasoningOut = true
    return { ...result, isAdjusted: true }
  }

  #toAbandonedBill(charge: Charge): Bill {
    const { keyId } = this.ctx.caller
    const bill = toAbandonedChatBill(this.#toUnfinished(), charge, {
      inputTokens: this.inputTokens ?? this.countInput(),
      reservedTokens: this.reservedTokens,
      usualOutput: charge.isAnswered ? this.deps.learned.find(keyId, this.target.id)?.p99 : undefined,
    })
    return charge.isAnswered ? this.warnIfNotCredible(charge.usage, bill) : bill
  }

  /** Returns the most output tokens that the provider can have generated unseen in `ms` milliseconds; undefined: none. */
  protected findUnseen(ms: number): number | undefined {
    return findUnseen(this.#toUnfinished(), ms)
  }

  #toUnfinished(): UnfinishedChat {
    const { target, reserved } = this
    return { target, reserved, isStream: this.parsed.request.stream, choices: this.#choices }
  }

  /** Logs that a usage is not billed as the provider reported it. Returns the bill. */
  protected warnIfNotCredible(reported: Usage | undefined, bill: Bill): Bill {
    if (reported === undefined || !bill.isEstimated) return bill
    const { requestId } = this.ctx
    const details = { requestId, model: this.target.id, reported, billed: bill.usage }
    this.deps.log.warn(details, 'a usage that cannot be true was billed by an estimate')
    return bill
  }

  protected get choices(): number {
    return this.#choices
  }

  protected get reservedTokens(): number | undefined {
    return this.ctx.reservation?.amounts.tokens
  }

  spellParam(name: string): string {
    return showParam(name, this.parsed)
  }

  /** Returns answerHeaders, and the headers that name a lowered output cap and emulated parameters. */
  protected headers(contentType: string): string[] {
    const { target } = this
    const dropped = target.dropped.slice(0, MAX_NAMED).map(name => this.spellParam(name))
    const named = dropped.length === 0 ? target : { ...target, dropped }
    const headers = answerHeaders(this.ctx, named, contentType, this.deps)
    const { outputCap } = this.ctx.recordFields
    if (outputCap !== null) headers.push('X-Rideau-Output-Cap', String(outputCap))
    if (this.#emulated.length > 0) {
      const shown = this.#emulated.map(name => showParam(name, this.parsed))
      headers.push('X-Rideau-Emulated-Params', toHeaderList(shown))
    }
    return headers
  }
}

/** More names than a header has room for. A body may have 60,000 that are left out. */
const MAX_NAMED = 1_024
/** Bytes that a string takes besides its characters, including its entry in a list. */
const PER_NAME = 40

/** Returns the bytes of memory that names take at most. */
function measureNames(names: readonly string[]): number {
  let bytes = 0
  for (const name of names) bytes += PER_NAME + 2 * name.length
  return bytes
}
