import type { ModelPricing } from '@rideau/llm/provider/prices'
import type { AliasStrategy } from './tenancy.ts'

/** What of an alias's usable target its place in the order depends on. */
export interface Orderable {
  readonly weight: number
  /** null: unknown. */
  readonly pricing: ModelPricing | null
  /** Milliseconds to the first byte of late; undefined: not measured. */
  readonly latencyMs: number | undefined
}

/**
 * The targets in the order in which they are tried. `chance` is in [0, 1). All sorts keep the given order, which is the
 * priority, among equals.
 */
export function orderTargets<T extends Orderable>(
  strategy: AliasStrategy,
  targets: readonly T[],
  chance: number,
): readonly T[] {
  if (targets.length < 2 || strategy === 'priority') return targets
  if (strategy === 'weighted') return orderByWeight(targets, chance)
  const rank = strategy === 'lowest_cost' ? costOf : latencyOf
  return targets.toSorted((a, b) => compare(rank(a), rank(b)))
}

/** The first by chance in proportion to its weight, then the others as given: what weighs 0 is a fallback only. */
export function orderByWeight<T extends { readonly weight: number }>(
  all: readonly T[],
  chance: number,
): readonly T[] {
  if (all.length < 2) return all
  let left = chance * all.reduce((sum, { weight }) => sum + weight, 0)
  const first = all.find(({ weight }) => {
    left -= weight
    return left < 0
  })
  return first === undefined ? all : [first, ...all.filter(each => each !== first)]
}

/** A token in and a token out. An unknown price is never the lowest. */
function costOf({ pricing }: Orderable): number {
  return pricing === null ? Number.POSITIVE_INFINITY : pricing.input + pricing.output
}

/** Who was never measured goes first, so that it will be. */
function latencyOf({ latencyMs }: Orderable): number {
  return latencyMs ?? -1
}

/** Not a difference: that of two infinities is no number. */
function compare(a: number, b: number): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
