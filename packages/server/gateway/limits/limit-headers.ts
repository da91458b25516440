import type { Meter } from '../../core/meter.ts'
import type { MeterStatus } from '../../ledger/ledger.ts'

const NONE: readonly string[] = []

/**
 * How the limits stand after this request was admitted, of those of requests and of tokens the one that binds: the
 * fields of the IETF's draft (`RateLimit`, `RateLimit-Policy`) and the ones that OpenAI's clients know. As name, value,
 * name, value. Money is no rate: it is not among them.
 */
export function limitHeaders(standings: readonly MeterStatus[] | undefined, now: number): readonly string[] {
  if (standings === undefined || standings.length === 0) return NONE
  const requests = findBinding(standings, 'requests')
  const tokens = findBinding(standings, 'tokens')
  if (requests === undefined && tokens === undefined) return NONE
  const policies: string[] = []
  const states: string[] = []
  const headers: string[] = []
  for (const [standing, unit] of [
    [requests, 'requests'],
    [tokens, 'tokens'],
  ] as const) {
    if (standing === undefined) continue
    const { meter } = standing
    const left = Math.max(0, meter.limit - standing.settled - standing.reserved)
    const resetSeconds = Math.max(0, Math.ceil(((standing.resetAt ?? now) - now) / 1000))
    // Scope and unit name the policy: which limit it is that binds.
    const name = `"${meter.source.scope}-${unit}"`
    policies.push(
      `${name};q=${meter.limit};w=${windowSeconds(meter)}${unit === 'tokens' ? ';qu="tokens"' : ''}`,
    )
    states.push(`${name};r=${left};t=${resetSeconds}`)
    headers.push(
      `x-ratelimit-limit-${unit}`,
      String(meter.limit),
      `x-ratelimit-remaining-${unit}`,
      String(left),
      `x-ratelimit-reset-${unit}`,
      `${resetSeconds}s`,
    )
  }
  return ['RateLimit-Policy', policies.join(', '), 'RateLimit', states.join(', '), ...headers]
}

/** The one with the smallest part left. */
function findBinding(
  standings: readonly MeterStatus[],
  metric: 'requests' | 'tokens',
): MeterStatus | undefined {
  let binding: MeterStatus | undefined
  for (const standing of standings) {
    if (standing.meter.metric !== metric) continue
    if (binding === undefined || partLeft(standing) < partLeft(binding)) binding = standing
  }
  return binding
}

function partLeft({ meter, settled, reserved }: MeterStatus): number {
  return meter.limit === 0 ? 0 : (meter.limit - settled - reserved) / meter.limit
}

function windowSeconds(meter: Meter): number {
  if (meter.kind === 'rolling') return Math.ceil(meter.windowMs / 1000)
  return meter.kind === 'fixed' && meter.end !== null ? Math.round((meter.end - meter.since) / 1000) : 0
}
