import type { Json, JsonObject } from '../json/json-value.ts'
import { toObject } from '../json/json-value.ts'
import type { Target } from '../upstream/target.ts'
import type { Usage } from './usage.ts'

const NANOS_PER_USD = 1_000_000_000
/** 1e-10 USD each. */
const TICKS_PER_USD = 10_000_000_000
/** No request costs this much: a larger amount is a provider's mistake. */
const MAX_USD = 10_000

/**
 * Returns the usage with the cost that the provider reports. The report counts only for providers that are known to send
 * it (`Provider.reportsCost`) and only at their own address: any other server could report zero and so bypass every budget.
 */
export function withReportedCost(
  usage: Usage | undefined,
  wire: Json | undefined,
  target: Target,
): Usage | undefined {
  if (usage === undefined) return usage
  const reportedCostNanoUsd = readReportedCost(wire, target)
  return reportedCostNanoUsd === undefined ? usage : { ...usage, reportedCostNanoUsd }
}

/** The cost alone, in whole nano-dollars, of what has a usage of another shape; undefined: none that is believed. */
export function readReportedCost(
  wire: Json | undefined,
  { provider, baseUrl }: Pick<Target, 'provider' | 'baseUrl'>,
): number | undefined {
  const counters = toObject(wire)
  if (counters === undefined) return undefined
  if (provider.reportsCost === undefined || baseUrl !== provider.baseUrl) return undefined
  const usd = READERS[provider.reportsCost](counters)
  if (usd === undefined || usd > MAX_USD) return undefined
  // Rounded up, but not for what is left of a fraction in binary.
  return Math.ceil(Number((usd * NANOS_PER_USD).toFixed(3)))
}

type CostField = NonNullable<Target['provider']['reportsCost']>

const READERS: Readonly<Record<CostField, (usage: JsonObject) => number | undefined>> = {
  'usage.cost': usage => {
    const own = toAmount(usage.cost)
    // With the caller's own key of another provider, its fee and that provider's price are separate fields.
    if (usage.is_byok !== true) return own
    const theirs = toAmount(toObject(usage.cost_details)?.upstream_inference_cost)
    return own === undefined || theirs === undefined ? undefined : own + theirs
  },
  'usage.cost.total_cost': usage => toAmount(toObject(usage.cost)?.total_cost),
  'usage.cost_in_usd_ticks': usage => {
    const ticks = toAmount(usage.cost_in_usd_ticks)
    return ticks === undefined ? undefined : ticks / TICKS_PER_USD
  },
}

function toAmount(value: Json | undefined): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined
}
