import type { HostedTool, HostedToolPrice } from '../../../provider/prices.ts'
import type { Provider } from '../../../provider/provider.ts'
import type { Target } from '../../../upstream/target.ts'
import { type HostedUse, type Usage, ZERO_USAGE } from '../../../usage/usage.ts'
import { matchesAny } from '../reading/model-pattern.ts'

const NANOS_PER_USD = 1_000_000_000
/** No request uses a tool this often: a larger count is a provider's mistake. */
const MAX_USES = 100_000

/** A tool that a request asks its provider to run. */
export interface HostedToolRequest {
  /** Where the caller asks for it. */
  readonly path: string
  /** The type by which it asks, in the words of its format; undefined: no provider of the format has a price for it. */
  readonly type: string | undefined
  /** True if the tool costs only the tokens that it adds, at every provider of the format. */
  readonly isFree?: true | undefined
  /** The most uses that the caller allows; undefined: it names none. */
  readonly maxUses?: number | undefined
  /** The field that chooses this very tool, which is left out with it; undefined: none does. */
  readonly choicePath?: string | undefined
}

/** The price of a tool of this type at a model; undefined: the provider does not run it there, or the price is unknown. */
export function findPriceOfType(
  provider: Provider,
  model: string,
  type: string,
): HostedToolPrice | undefined {
  return provider.catalog?.hosted_tools?.find(price => price.types.includes(type) && isOfModel(price, model))
}

function isOfModel({ models }: HostedToolPrice, model: string): boolean {
  return models === undefined || matchesAny(model, models)
}

/** The price of a tool whose uses an answer counts; undefined: it is unknown. */
export function findPriceOfTool(
  { provider, model }: Pick<Target, 'provider' | 'model'>,
  tool: string,
): HostedToolPrice | undefined {
  return provider.catalog?.hosted_tools?.find(price => price.tool === tool && isOfModel(price, model))
}

/** Returns what `uses` uses of the tool cost, in whole nano-dollars. */
export function toHostedCost({ per, usd }: HostedToolPrice, uses: number): number {
  const counted = per === 'request' ? Math.min(uses, 1) : uses
  return counted * Math.round(usd * NANOS_PER_USD)
}

/** Uses by tool. */
export type HostedCounts = Partial<Record<HostedTool, number>>

/** What the counted uses cost at a target; undefined: nothing was used that has a price. */
export function priceUses(
  counts: HostedCounts,
  target: Pick<Target, 'provider' | 'model'>,
): HostedUse | undefined {
  let uses = 0
  let nanoUsd = 0
  for (const name in counts) {
    const count = Math.min(counts[name as HostedTool] ?? 0, MAX_USES)
    if (count === 0) continue
    const price = findPriceOfTool(target, name)
    if (price === undefined) continue
    uses += count
    nanoUsd += toHostedCost(price, count)
  }
  return uses === 0 ? undefined : { uses, nanoUsd }
}

/**
 * The usage with what tools cost. Uses that were counted before any usage was reported are a usage without tokens: they
 * are billed also if no more comes. undefined: there is neither.
 */
export function withHosted(usage: Usage | undefined, hosted: HostedUse | undefined): Usage | undefined {
  if (hosted === undefined) return usage
  return { ...(usage ?? ZERO_USAGE), hosted }
}

/** Returns a number of uses as a provider reports it; undefined: it is no such number. */
export function toUses(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 && value <= MAX_USES ? Math.ceil(value) : undefined
}
