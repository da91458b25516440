import type { CatalogModel } from '@rideau/llm/provider/catalog-model'
import type { Usage } from '@rideau/llm/usage/usage'

/** Far above what one answer of any current model can use. */
const MAX_TOKENS = 20_000_000
/** A model uses no fewer, however small its window is said to be. */
const SMALLEST_BOUND = 100_000
/** Twice the window, because published windows are rounded and providers count their own additions too. */
const WINDOWS = 2

/** What bounds the tokens of a usage report. */
export interface UsageBound {
  readonly model: CatalogModel | undefined
  /** Answers that were asked for. Each may use the model's window, as each text of a request for embeddings. */
  readonly choices: number
  /** What the gateway counted or reserved itself: at least that can be true. */
  readonly ownTokens: number
}

/**
 * Returns the credible part of a reported usage. A usage up to the bound is returned as it is, the same object. A larger one is
 * reduced to the bound in proportion, since at least that much was used if the catalogue's window is too old. undefined: no part of
 * it can be true, because a count is negative or not whole, or because all are 0.
 */
export function toCredibleUsage(usage: Usage, bound: UsageBound): Usage | undefined {
  const { uncachedInput, cacheRead, cacheWrite, cacheWrite1h = 0, output, reasoning } = usage
  const counts = [uncachedInput, cacheRead, cacheWrite, cacheWrite1h, output, reasoning]
  if (!counts.every(count => Number.isSafeInteger(count) && count >= 0)) return undefined
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return undefined
  const most = toMaxTokens(bound, usage.hosted?.uses ?? 0)
  return total <= most ? usage : cut(usage, most / total)
}

/** The model reads its context again after each tool that the provider ran. */
function toMaxTokens({ model, choices, ownTokens }: UsageBound, uses: number): number {
  const window = model?.context_window ?? null
  const ofAnswer = window === null ? MAX_TOKENS : Math.max((WINDOWS + uses) * window, SMALLEST_BOUND)
  return Math.max(ofAnswer * choices, ownTokens)
}

function cut(usage: Usage, share: number): Usage {
  const of = (count: number | undefined): number => Math.round((count ?? 0) * share)
  return {
    ...usage,
    uncachedInput: of(usage.uncachedInput),
    ...(usage.audioInput === undefined ? {} : { audioInput: of(usage.audioInput) }),
    cacheRead: of(usage.cacheRead),
    cacheWrite: of(usage.cacheWrite),
    ...(usage.cacheWrite1h === undefined ? {} : { cacheWrite1h: of(usage.cacheWrite1h) }),
    output: of(usage.output),
    reasoning: of(usage.reasoning),
  }
}
