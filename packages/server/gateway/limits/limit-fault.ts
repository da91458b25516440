import { Fault } from '../../core/fault.ts'
import type { Meter } from '../../core/meter.ts'
import type { LimitRefusal } from '../../ledger/ledger.ts'

const NANO_PER_USD = 1_000_000_000

/**
 * A slot is free when a request that runs ends, which nobody can tell: the one refusal whose wait is a guess. Contract.md §2
 * wants a number with every 429, so it says the least there is; an honest long one would keep slots empty. Seconds.
 */
const SLOT_SECONDS = 1

/** What a caller is told of the limit that refused it: scope, limit, settled, held, reset (contract.md §2). */
export function toLimitFault(refused: LimitRefusal, now: number): Fault {
  const { meter, settled, reserved, wanted, resetAt } = refused
  const { code, kind, scope, ref } = meter.source
  const amounts = [
    `limit ${formatAmount(meter, meter.nominalLimit)}${graceOf(meter)}`,
    `settled ${formatAmount(meter, settled)}`,
    `held ${formatAmount(meter, reserved)}`,
    `wanted ${formatAmount(meter, wanted)}`,
  ]
  const reset = resetAt === null ? 'does not reset by time' : `resets at ${new Date(resetAt).toISOString()}`
  const impossible = wanted > meter.limit ? ' This request alone is more than that: no wait helps.' : ''
  const message = `The ${kind} of ${METRIC_NAMES[meter.metric]} for ${SCOPE_NAMES[scope]} ${ref} is reached: ${amounts.join(', ')}; ${reset}.${impossible}`
  // 402 is no matter of waiting: clients are not to try again by themselves (spec.md "Errors").
  if (code === 'budget_exceeded') return new Fault(code, message)
  return new Fault(code, message, { retryAfterSeconds: secondsOf(refused, now) })
}

const METRIC_NAMES = {
  requests: 'requests',
  tokens: 'tokens',
  nano_usd: 'spend',
  in_flight: 'concurrent requests',
}
const SCOPE_NAMES = {
  org: 'the organization',
  project: 'the project',
  environment: 'the environment',
  key: 'the key',
  end_user: 'the end user',
}

/** Rounded up to whole seconds, so that who waits exactly that long is not early. */
function secondsOf({ meter, retryAt, resetAt }: LimitRefusal, now: number): number {
  if (meter.metric === 'in_flight') return SLOT_SECONDS
  if (retryAt !== null) return Math.ceil((retryAt - now) / 1000)
  // It never fits: the end of the window is when the question is worth another look.
  if (meter.kind === 'rolling') return Math.ceil(meter.windowMs / 1000)
  return resetAt === null ? SLOT_SECONDS : Math.ceil((resetAt - now) / 1000)
}

function graceOf(meter: Meter): string {
  return meter.limit === meter.nominalLimit ? '' : ` (${formatAmount(meter, meter.limit)} with grace)`
}

function formatAmount({ metric }: Meter, amount: number): string {
  return metric === 'nano_usd' ? `$${toDecimal(amount)}` : String(amount)
}

/** At least cents, and as many digits as it takes to be exact. */
function toDecimal(nanoUsd: number): string {
  const text = (nanoUsd / NANO_PER_USD).toFixed(9)
  return text.replace(/(\.\d\d\d*?)0+$/, '$1')
}
