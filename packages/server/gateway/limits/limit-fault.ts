import { Fault } from '../../core/fault.ts'
import type { Meter } from '../../core/limits/meter.ts'
import type { LimitRefusal } from '../../ledger/ledger.ts'
import { limitHeaders } from './limit-headers.ts'
import { type AmountsReader, showsAmounts } from './shows-amounts.ts'

const NANO_PER_USD = 1_000_000_000

/**
 * Seconds to wait for a slot of a concurrency limit. A slot becomes free when a running request ends, which cannot be
 * predicted, and every 429 needs a `Retry-After`. The shortest wait keeps slots from staying empty.
 */
const SLOT_SECONDS = 1
/** At least this long for a request that never fits: clients do not retry after more than a minute by themselves. */
const NEVER_SECONDS = 61

/**
 * Returns the fault for a limit that refused a request. Its message names the scope, the limit, the settled, reserved
 * and wanted amounts and the reset; to a caller that may not know the amounts, only the scope and the reset.
 */
export function toLimitFault(refused: LimitRefusal, caller: AmountsReader, now: number): Fault {
  const { code } = refused.meter.source
  const message = describeRefusal(refused, caller)
  // A 402 has no `Retry-After`: waiting does not help, and clients must not retry by themselves.
  if (code === 'budget_exceeded') return new Fault(code, message)
  return new Fault(code, message, {
    retryAfterSeconds: secondsOf(refused, now),
    headers: limitHeaders([refused], caller, now),
  })
}

function describeRefusal(refused: LimitRefusal, caller: AmountsReader): string {
  const { meter, wanted } = refused
  const { kind, scope, ref } = meter.source
  const limit = `The ${kind} of ${METRIC_NAMES[meter.metric]} for ${SCOPE_NAMES[scope]}`
  const verb = kind === 'quota' ? 'is exceeded' : 'is reached'
  if (!showsAmounts(caller, meter)) return `${limit} ${verb}; it ${describeReset(refused)}.`
  const impossible =
    wanted > meter.limit ? ' This request alone exceeds the limit, so a retry fails too.' : ''
  // A rule of a key also binds the keys that replaced it. The caller knows its own.
  const name = scope === 'key' ? (caller.keyId ?? ref) : ref
  return `${limit} ${name} ${verb}: ${describeAmounts(refused)}.${impossible}`
}

/** The amounts of a limit that refused a request, and its reset, as each message about a limit names them. */
export function describeAmounts(refused: LimitRefusal): string {
  const { meter, settled, reserved, wanted } = refused
  const amounts = [
    `limit ${formatAmount(meter, meter.nominalLimit)}${graceOf(meter)}`,
    `settled ${formatAmount(meter, settled)}`,
    `held ${formatAmount(meter, reserved)}`,
    `wanted ${formatAmount(meter, wanted)}`,
  ]
  return `${amounts.join(', ')}; ${describeReset(refused)}`
}

function describeReset({ meter, resetAt }: LimitRefusal): string {
  if (resetAt === null) return 'does not reset by time'
  // qwen-code sleeps for minutes unless the message of a 429 says that a quota is exceeded and will reset.
  const verb = meter.source.kind === 'quota' ? 'will reset at' : 'resets at'
  return `${verb} ${new Date(resetAt).toISOString()}`
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

/** Returns the wait in whole seconds, rounded up so that a retry after it is not too early. */
function secondsOf(refused: LimitRefusal, now: number): number {
  const seconds = secondsOfWindow(refused, now)
  return refused.wanted > refused.meter.limit ? Math.max(seconds, NEVER_SECONDS) : seconds
}

function secondsOfWindow({ meter, retryAt, resetAt }: LimitRefusal, now: number): number {
  if (meter.metric === 'in_flight') return SLOT_SECONDS
  if (retryAt !== null) return Math.ceil((retryAt - now) / 1000)
  // The request never fits. After the end of the window the limit may have changed.
  if (meter.kind === 'rolling') return Math.ceil(meter.windowMs / 1000)
  return resetAt === null ? SLOT_SECONDS : Math.ceil((resetAt - now) / 1000)
}

function graceOf(meter: Meter): string {
  return meter.limit === meter.nominalLimit ? '' : ` (${formatAmount(meter, meter.limit)} with grace)`
}

function formatAmount({ metric }: Meter, amount: number): string {
  return metric === 'nano_usd' ? `$${toDecimal(amount)}` : String(amount)
}

/** Formats an amount exactly, with at least two decimals. */
function toDecimal(nanoUsd: number): string {
  const text = (nanoUsd / NANO_PER_USD).toFixed(9)
  return text.replace(/(\.\d\d\d*?)0+$/, '$1')
}
