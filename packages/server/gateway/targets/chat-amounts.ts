import { findModelRule } from '@rideau/llm/formats/shared/reading/model-rules'
import type { CatalogModel } from '@rideau/llm/provider/catalog-model'
import type { ModelPricing } from '@rideau/llm/provider/prices'
import { findModel } from '@rideau/llm/providers/catalog'
import { costNanoUsd } from '@rideau/llm/usage/pricing'
import { ZERO_USAGE } from '@rideau/llm/usage/usage'
import type { Amounts } from '../../ledger/ledger.ts'
import type { ChatTarget } from './chat-selection.ts'
import type { GrantedTools } from './grant-hosted-tools.ts'

/** Output tokens that are reserved and requested if neither the request nor the model has a maximum. */
const UNKNOWN_MAX = 32_768

/** A model's context window, in tokens, where the catalogue does not know it. */
const UNKNOWN_WINDOW = 200_000
/** Context windows of input that one answer is billed at most while its provider runs tools (credible-usage.ts). */
const WINDOWS_WITH_TOOLS = 2

/** The parts of a request's input, in tokens. */
export interface InputParts {
  readonly counted: number
  /** Of what is not read (countUnread), and of a target's images that may have more tokens than usual (countLargeImages). */
  readonly unread: number
  /** What the provider fetches, or adds from its store, cannot be counted. */
  readonly isUnmeasured: boolean
  /** The provider runs tools whose results it counts as input. */
  readonly hasUncountedTools: boolean
}

/**
 * Returns the most input tokens of a request. What a provider adds from its store, from an address or by a tool that it runs
 * cannot be counted: it is bounded by the largest context window of the targets, as is what is not read, since some of it may be
 * images in base64.
 */
export function toMaxInput(
  { counted, unread, isUnmeasured, hasUncountedTools }: InputParts,
  targets: readonly PricedTarget[],
): number {
  if (unread === 0 && !isUnmeasured && !hasUncountedTools) return counted
  let window = targets.length === 0 ? UNKNOWN_WINDOW : 0
  for (const target of targets) window = Math.max(window, contextWindowOf(target))
  const known = Math.max(counted, Math.min(counted + unread, window))
  if (!isUnmeasured && !hasUncountedTools) return known
  return Math.max(known, hasUncountedTools ? window * WINDOWS_WITH_TOOLS : window)
}

/** Returns the tokens that a target's model can read. */
export function contextWindowOf({ catalogModel }: PricedTarget): number {
  return catalogModel?.context_window ?? UNKNOWN_WINDOW
}

/** Returns the input tokens of a request as they are estimated, of what is not read up to the context window. */
export function toLikelyInput(counted: number, unread: number, targets: readonly PricedTarget[]): number {
  return toMaxInput({ counted, unread, isUnmeasured: false, hasUncountedTools: false }, targets)
}

/**
 * Returns the most that a request may use: its tokens, and their cost at the most expensive target. Both are at most 2^53 - 1,
 * which counters and columns hold exactly, whatever maximum a caller names.
 */
export function toReservedAmounts(targets: readonly PricedTarget[], tokens: ReservedTokens): Amounts {
  let nanoUsd = 0
  let added = 0
  for (const { catalogModel, hosted, imageTokens = 0 } of targets) {
    const pricing = catalogModel?.pricing ?? null
    const more = (hosted?.inputTokens ?? 0) + imageTokens
    added = Math.max(added, more)
    if (pricing === null) continue
    const input = tokens.input + more
    nanoUsd = Math.max(nanoUsd, priceOf(pricing, { ...tokens, input }) + (hosted?.nanoUsd ?? 0))
  }
  return { tokens: toExact(tokens.input + added + tokens.output), nanoUsd: toExact(nanoUsd) }
}

function toExact(amount: number): number {
  return Math.min(amount, Number.MAX_SAFE_INTEGER)
}

export interface PricedTarget {
  readonly catalogModel: CatalogModel | undefined
  /** Tools that the target may run. */
  readonly hosted?: GrantedTools | undefined
  /** Tokens that the images of the request may have at this target, beyond those of `ReservedInput.input`. Absent: none. */
  readonly imageTokens?: number
}

export interface ReservedInput {
  /** Of all targets alike. */
  readonly input: number
  /** Tokens of `input` that are priced as audio if that costs more. */
  readonly audioInput: number
  /** True: input is priced as written to the cache if that costs more. */
  readonly mayWriteCache: boolean
}

export interface ReservedTokens extends ReservedInput {
  /** For all choices together. */
  readonly output: number
}

function priceOf(
  pricing: ModelPricing,
  { input, audioInput, output, mayWriteCache }: ReservedTokens,
): number {
  // All of it may be reasoning, which some models charge more for.
  const usage = { ...ZERO_USAGE, reasoning: output }
  const plain = costNanoUsd({ ...usage, uncachedInput: input }, pricing) ?? 0
  const heard =
    audioInput === 0 ? 0 : (costNanoUsd({ ...usage, uncachedInput: input, audioInput }, pricing) ?? 0)
  const most = Math.max(plain, heard)
  // OpenAI's models from GPT-5.6 on write to the cache unasked. Those with a price for an hour wait for a mark.
  const mayWriteUnasked = pricing.cache_write !== undefined && pricing.cache_write_1h === undefined
  if (!mayWriteCache && !mayWriteUnasked) return most
  const written = costNanoUsd({ ...usage, cacheWrite: input }, pricing) ?? 0
  const kept = costNanoUsd({ ...usage, cacheWrite1h: input }, pricing) ?? 0
  return Math.max(most, written, kept)
}

/** Returns the most output tokens of one choice. The target may have to be asked to keep to that (keepsMaximum). */
export function maxOutput({ request, catalogModel }: ChatTarget): number {
  const model = catalogModel?.max_output_tokens ?? catalogModel?.context_window ?? undefined
  if (request.maxOutputTokens === undefined) return model ?? UNKNOWN_MAX
  return Math.min(request.maxOutputTokens, model ?? Number.POSITIVE_INFINITY)
}

/**
 * Whether an answer has no more than maxOutput although that is not sent as its cap. A server does not know the maximum that its
 * owner stated for a custom model; its context window it does. `input`: the counted input tokens, which leave the rest of the window.
 */
export function keepsMaximum(target: ChatTarget, input: number): boolean {
  const { request, catalogModel, provider, model } = target
  const most = catalogModel?.max_output_tokens ?? null
  const window = catalogModel?.context_window ?? null
  if (request.maxOutputTokens !== undefined && request.maxOutputTokens <= maxOutput(target)) return true
  if (most === null) return window !== null
  // Reasoning that the model's own maximum leaves out is bounded beside a cap only.
  if (findModelRule(provider.openai ?? {}, model)?.reasonsBesideCap !== undefined) return false
  const isListed = findModel(provider.id, model) === catalogModel
  return isListed || (window !== null && input + most > window)
}

/**
 * Returns the output cap of a target if it is lower than what the caller asked for and the model allows; otherwise null.
 * `requested`: the caller's own maximum.
 */
export function findLoweredCap(
  { request, catalogModel }: ChatTarget,
  requested: number | undefined,
): number | null {
  const cap = request.maxOutputTokens
  if (cap === undefined || (requested !== undefined && cap >= requested)) return null
  const most = catalogModel?.max_output_tokens ?? catalogModel?.context_window ?? null
  return most !== null && cap >= most ? null : cap
}

/**
 * Whether the model may reason. Hidden reasoning is not visible in a stream, so such a stream cannot be cut by its
 * delivered tokens.
 */
export function mayReason({ catalogModel }: PricedTarget): boolean {
  return catalogModel === undefined || catalogModel.capabilities.includes('reasoning')
}
