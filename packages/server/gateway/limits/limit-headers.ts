import type { Meter } from '../../core/limits/meter.ts'
import type { MeterStatus } from '../../ledger/ledger.ts'
import { type AmountsReader, showsAmounts } from './shows-amounts.ts'

const NONE: readonly string[] = []

/**
 * Returns rate limit headers as [name, value, name, value, ...]: `RateLimit` and `RateLimit-Policy` of the IETF draft,
 * and the `x-ratelimit-*` headers of OpenAI. For requests and for tokens they describe the limit with the smallest
 * remaining share, of those whose amounts the caller may know. Limits of money are not included, since they are not rates.
 */
export function limitHeaders(
  meterStatuses: readonly MeterStatus[] | undefined,
  caller: AmountsReader,
  now: number,
): readonly string[] {
  if (meterStatuses === undefined || meterStatuses.length === 0) return NONE
  const requests = findBinding(meterStatuses, caller, 'requests')
  const tokens = findBinding(meterStatuses, caller, 'tokens')
  if (requests === undefined && tokens === undefined) return NONE
  const policies: string[] = []
  const states: string[] = []
  const headers: string[] = []
  for (const [status, unit] of [
    [requests, 'requests'],
    [tokens, 'tokens'],
  ] as const) {
    if (status === undefined) continue
    const { meter } = status
    // Without the grace of a quota, which callers must not plan with.
    const limit = meter.nominalLimit
    const remaining = Math.max(0, limit - status.settled - status.reserved)
    const resetSeconds = Math.max(0, Math.ceil(((status.resetAt ?? now) - now) / 1000))
    // The policy is named by scope and unit, which identifies the limit.
    const name = `"${meter.source.scope}-${unit}"`
    policies.push(`${name};q=${limit};w=${windowSeconds(meter)}${unit === 'tokens' ? ';qu="tokens"' : ''}`)
    states.push(`${name};r=${remaining};t=${resetSeconds}`)
    headers.push(
      `x-ratelimit-limit-${unit}`,
      String(limit),
      `x-ratelimit-remaining-${unit}`,
      String(remaining),
      `x-ratelimit-reset-${unit}`,
      `${resetSeconds}s`,
    )
  }
  return ['RateLimit-Policy', policies.join(', '), 'RateLimit', states.join(', '), ...headers]
}

/** Returns the limit of a metric with the smallest remaining share that the caller may know. */
function findBinding(
  meterStatuses: readonly MeterStatus[],
  caller: AmountsReader,
  metric: 'requests' | 'tokens',
): MeterStatus | undefined {
  let binding: MeterStatus | undefined
  for (const status of meterStatuses) {
    if (status.meter.metric !== metric || !showsAmounts(caller, status.meter)) continue
    if (binding === undefined || remainingShare(status) < remainingShare(binding)) binding = status
  }
  return binding
}

function remainingShare({ meter, settled, reserved }: MeterStatus): number {
  return meter.limit === 0 ? 0 : (meter.limit - settled - reserved) / meter.limit
}

function windowSeconds(meter: Meter): number {
  if (meter.kind === 'rolling') return Math.ceil(meter.windowMs / 1000)
  return meter.kind === 'fixed' && meter.end !== null ? Math.round((meter.end - meter.since) / 1000) : 0
}
