import type { ParsedChat } from '@rideau/llm/formats/shared/parsed-chat'
import type { Answered, ChatServer } from '@rideau/llm/formats/shared/server-format'
import type { ChatRequest } from '@rideau/llm/request/chat-request'
import { authorizeRequest } from '@rideau/llm/upstream/authorize-request'
import type { Target } from '@rideau/llm/upstream/target'
import { type Bill } from '@rideau/llm/usage/bill'
import { estimateTokens } from '@rideau/llm/usage/estimate'
import { toHeaderList } from '../../http/header-text.ts'
import type { AttemptOptions } from '../attempts/attempt-plain.ts'
import type { AttemptResult } from '../attempts/attempt-result.ts'
import { type FetchedImages, inlineImages, needsImages } from '../attempts/inline-images.ts'
import { type Charge, toLostBill } from '../billing/bill.ts'
import { countInput } from '../billing/count-input.ts'
import { answerHeaders } from '../edge/answer-headers.ts'
import type { ChatPlan, PlannedTarget } from '../plan/chat-plan.ts'
import { mostOutput } from '../plan/held-amounts.ts'
import { showParam } from '../plan/plan-chat.ts'
import { type Facts, noteTarget } from '../request/facts.ts'
import type { RequestContext } from '../request/request-context.ts'
import type { PipelineDeps } from './pipeline-deps.ts'

/** One chat request with everything that was decided about it. */
export interface ChatCall {
  readonly ctx: RequestContext
  readonly deps: PipelineDeps
  readonly server: ChatServer
  readonly plan: ChatPlan
  readonly facts: Facts
  /** The target that is being tried, or that answers; see aimAt. */
  target: PlannedTarget
  answered: Answered
  /** What was fetched for a provider that fetches nothing itself: for every try once. */
  readonly images: FetchedImages
  /** Wire names of what the last try asked for in another way than the format's own. */
  emulated: readonly string[]
}

/** Milliseconds for one try where the caller names none. */
const DEFAULT_TIMEOUT_MS = 300_000
/** What nobody may go beyond. */
const MAX_TIMEOUT_MS = 600_000

/** A request on its way to the plan's first target. */
export function openChatCall(
  ctx: RequestContext,
  deps: PipelineDeps,
  server: ChatServer,
  plan: ChatPlan,
  facts: Facts,
): ChatCall {
  const target = plan.targets[0] as PlannedTarget
  noteTarget(facts, target)
  const answered = toAnswered(ctx, target, plan.call)
  const images: FetchedImages = new Map()
  return { ctx, deps, server, plan, facts, target, answered, emulated: [], images }
}

/** Each try is made on behalf of the whole request: its record and its answer name the target that was tried last. */
export function aimAt(chat: ChatCall, target: PlannedTarget): void {
  if (chat.target === target) return
  chat.target = target
  chat.answered = toAnswered(chat.ctx, target, chat.plan.call)
  noteTarget(chat.facts, target)
}

function toAnswered(
  ctx: RequestContext,
  { provider, format, id }: PlannedTarget,
  call: ParsedChat,
): Answered {
  return {
    requestId: ctx.requestId,
    created: Math.floor(ctx.arrivedAt / 1000),
    clock: ctx,
    model: id,
    provider: provider.id,
    format: format.id,
    isSandbox: provider.sandbox === true,
    includeUsage: call.request.includeUsage,
    rewritesUsage: provider.openai?.completionExcludesReasoning === true,
    call,
  }
}

/** A try that left and was not answered may be charged for: with what is billed for it. */
export function withBill<T>(chat: ChatCall, result: AttemptResult<T>): AttemptResult<T> {
  if (result.ok || result.charge === undefined) return result
  return { ...result, bill: toBillOfLost(chat, result.charge) }
}

/**
 * The counted input, and as output what came of it by its bytes. A plain answer that its provider made but that cannot be
 * read may have been as long as any: it counts as what this key's answers by this model are known to use, or where that is
 * not known as what is held.
 */
function toBillOfLost({ ctx, deps, plan, target }: ChatCall, charge: Charge): Bill {
  const { held, call } = plan
  // No more than was asked for, whatever came: an error page can be large.
  const most = held?.mostOutputTokens ?? mostOutput(target).tokens
  let outputTokens = Math.min(most, estimateTokens(charge.bytes))
  if (charge.isAnswered && !call.request.stream && held !== undefined) {
    const usual = deps.learned.find(ctx.caller?.keyId ?? null, target.id)?.usual
    outputTokens = Math.min(held.outputTokens, Math.max(outputTokens, usual ?? held.outputTokens))
  }
  const inputTokens = held?.inputTokens ?? countInput(call.request)
  return toLostBill(target.catalogModel, charge, { inputTokens, outputTokens })
}

/**
 * One try at the target that is aimed at: the request as its provider takes it, and how it gets there. A promise only
 * where images have to be fetched first.
 */
export function toAttempt(chat: ChatCall, target: Target): AttemptOptions | Promise<AttemptOptions> {
  const { ctx, deps, plan, images, target: planned } = chat
  const { format } = planned
  const isPassed = format.passesOwn === true && plan.source.format === format.id
  if (isPassed || !needsImages(planned)) return encodeAttempt(chat, target, planned.request)
  return inlineImages(ctx, planned.request, images, deps).then(asked => encodeAttempt(chat, target, asked))
}

function encodeAttempt(chat: ChatCall, target: Target, asked: ChatRequest): AttemptOptions {
  const { ctx, plan, deps, target: planned } = chat
  const { provider, alias, format } = planned
  const request = format.encodeRequest(asked, target, plan.source, planned.dropped)
  authorizeRequest(request, target, deps.now())
  chat.emulated = request.emulated ?? []
  return {
    ctx,
    transport: provider.sandbox === true ? deps.sandbox : deps.http,
    format,
    target,
    request,
    timeoutMs: Math.min(plan.call.timeoutMs ?? DEFAULT_TIMEOUT_MS, alias?.timeoutMs ?? MAX_TIMEOUT_MS),
  }
}

/** See answerHeaders; what the format had no word for is named too. */
export function chatHeaders(chat: ChatCall, contentType: string): string[] {
  const { ctx, deps, plan, target, emulated } = chat
  const { call } = plan
  const { dropped } = target
  const told =
    dropped.length === 0 ? target : { ...target, dropped: dropped.map(name => showParam(name, call)) }
  const headers = answerHeaders(ctx, told, contentType, deps)
  if (emulated.length > 0) headers.push('X-Rideau-Emulated-Params', toHeaderList(emulated))
  return headers
}
