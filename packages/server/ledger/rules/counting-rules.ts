import type { FixedMeter, Meter, RollingMeter } from '../../core/limits/meter.ts'
import type { MeteredUsage } from '../../core/limits/metered-usage.ts'
import type { Amounts } from '../ledger.ts'

/** How a kind of meter counts a request: what is reserved while it runs, and what is settled when it has ended. */
export interface CountingRule {
  /** Identifies the rule in Redis, where reservations keep it. A number must never get another meaning. */
  readonly code: number
  readonly isRolling: boolean
  readonly reserves: 'one' | 'tokens' | 'nanoUsd'
  readonly settles: 'one' | 'requests' | 'tokens' | 'nanoUsd' | 'nothing'
}

const ROLLING_RULES: Readonly<Record<RollingMeter['metric'], CountingRule>> = {
  // A rate counts every admitted request, whatever its outcome.
  requests: { code: 1, isRolling: true, reserves: 'one', settles: 'one' },
  tokens: { code: 2, isRolling: true, reserves: 'tokens', settles: 'tokens' },
}

const FIXED_RULES: Readonly<Record<FixedMeter['metric'], CountingRule>> = {
  // A quota counts requests that were served.
  requests: { code: 3, isRolling: false, reserves: 'one', settles: 'requests' },
  tokens: { code: 4, isRolling: false, reserves: 'tokens', settles: 'tokens' },
  nano_usd: { code: 5, isRolling: false, reserves: 'nanoUsd', settles: 'nanoUsd' },
}

const CONCURRENCY_RULE: CountingRule = { code: 6, isRolling: false, reserves: 'one', settles: 'nothing' }

export const COUNTING_RULES: readonly CountingRule[] = [
  ...Object.values(ROLLING_RULES),
  ...Object.values(FIXED_RULES),
  CONCURRENCY_RULE,
]

export function ruleOf(meter: Meter): CountingRule {
  if (meter.kind === 'concurrency') return CONCURRENCY_RULE
  return meter.kind === 'rolling' ? ROLLING_RULES[meter.metric] : FIXED_RULES[meter.metric]
}

/** Returns what a running request with these amounts reserves. */
export function reservedAmount({ reserves }: CountingRule, amounts: Amounts): number {
  if (reserves === 'tokens') return amounts.tokens
  return reserves === 'nanoUsd' ? amounts.nanoUsd : 1
}

/** Returns what an ended request adds to the settled amount of a meter. */
export function settledAmount(rule: CountingRule, meter: Meter, usage: MeteredUsage): number {
  const { settles } = rule
  if (settles === 'one') return 1
  if (settles === 'nothing' || (usage.isSandbox && meter.subject.excludesSandbox)) return 0
  if (settles === 'requests') return usage.requests
  return settles === 'tokens' ? usage.tokens : usage.nanoUsd
}

/** Returns what a request whose lease has run out counts as used: everything it reserved, except a slot of concurrency. */
export function expiredAmount(rule: CountingRule, amounts: Amounts): number {
  return rule.settles === 'nothing' ? 0 : reservedAmount(rule, amounts)
}

/** Returns how much more the amounts `after` reserve than the amounts `before`; negative: less. */
export function growth(rule: CountingRule, before: Amounts, after: Amounts): number {
  return reservedAmount(rule, after) - reservedAmount(rule, before)
}
