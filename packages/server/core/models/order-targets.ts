import type { ModelPricing } from '@rideau/llm/provider/prices'
import type { AliasStrategy } from '../tenancy/tenancy.ts'
import { orderByRendezvous } from './rendezvous.ts'

/** The properties of a target that determine its place in the order. */
export interface Orderable {
  /** `provider/model`. */
  readonly id: string
  readonly weight: number
  /** null: unknown. */
  readonly pricing: ModelPricing | null
  /** Recent milliseconds to the first byte; undefined: not measured. */
  readonly latencyMs: number | undefined
}

/**
 * Returns the targets in the order of attempts. `share` is a random number in [0, 1). `affinity`: of the conversation, which
 * `weighted` gives the same target each time; undefined: none. Equal targets keep the given order, which is their priority.
 */
export function orderTargets<T extends Orderable>(
  strategy: AliasStrategy,
  targets: readonly T[],
  share: number,
  affinity?: number,
): readonly T[] {
  if (targets.length < 2 || strategy === 'priority') return targets
  if (strategy === 'weighted')
    return affinity === undefined ? orderByWeight(targets, share) : orderByAffinity(targets, affinity)
  const rank = strategy === 'lowest_cost' ? costOf : latencyOf
  return targets.toSorted((a, b) => compare(rank(a), rank(b)))
}

/** Returns a random target first, in proportion to the weights, then the others as given. A weight of 0 is for fallback only. */
export function orderByWeight<T extends { readonly weight: number }>(
  all: readonly T[],
  share: number,
): readonly T[] {
  if (all.length < 2) return all
  let remaining = share * all.reduce((sum, { weight }) => sum + weight, 0)
  const first = all.find(({ weight }) => {
    remaining -= weight
    return remaining < 0
  })
  return first === undefined ? all : [first, ...all.filter(target => target !== first)]
}

/** Returns the target of a conversation first, then the others as given. */
function orderByAffinity<T extends Orderable>(all: readonly T[], affinity: number): readonly T[] {
  const [first] = orderByRendezvous(all, affinity)
  return first === undefined || first.weight === 0 ? all : [first, ...all.filter(target => target !== first)]
}

/** Returns the price of one input token and one output token. An unknown price is never the lowest. */
function costOf({ pricing }: Orderable): number {
  return pricing === null ? Number.POSITIVE_INFINITY : pricing.input + pricing.output
}

/** A target without a measurement goes first, so that it gets one. */
function latencyOf({ latencyMs }: Orderable): number {
  return latencyMs ?? -1
}

/** Compares instead of subtracting, because the difference of two infinities is NaN. */
function compare(a: number, b: number): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
