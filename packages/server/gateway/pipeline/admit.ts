import { Fault } from '../../core/fault.ts'
import type { MeterSet } from '../../core/list-meters.ts'
import type { Amounts } from '../../ledger/ledger.ts'
import type { GatewayDeps } from '../deps.ts'
import { Admission, type AdmissionVerdict } from '../limits/admission.ts'
import { toLimitFault } from '../limits/limit-fault.ts'
import type { Exchange } from '../request/request-context.ts'

/** What a request asks of its limits. */
export interface Ask {
  readonly limits: MeterSet
  /** May only the sandbox answer it? */
  readonly isSandbox: boolean
  readonly hold: Amounts
}

const NOTHING: Amounts = { tokens: 0, nanoUsd: 0 }

/**
 * One atomic hold over every limit, quota and budget that concerns the request; settle.ts ends it. Throws what refuses
 * it, and then nothing is held. Every route that can reach a provider passes here: callTargets insists on it.
 */
export function admit(x: Exchange, deps: GatewayDeps, ask: Ask): void | Promise<void> {
  const verdict = tryAdmit(x, deps, ask)
  if (verdict instanceof Promise) return verdict.then(each => accept(x, deps, each))
  accept(x, deps, verdict)
}

/** As admit, but a refusal is a value: for who can ask for less. */
export function tryAdmit(
  x: Exchange,
  deps: GatewayDeps,
  { limits, isSandbox, hold }: Ask,
): AdmissionVerdict | Promise<AdmissionVerdict> {
  const meters = isSandbox ? limits.sandboxMeters : limits.meters
  return deps.admissions.open(x.id, limits.subject, meters, limits.hasAmountMeter ? hold : NOTHING)
}

export function accept(x: Exchange, deps: GatewayDeps, verdict: AdmissionVerdict): void {
  if (!(verdict instanceof Admission)) throw toFault(verdict, deps)
  x.admission = verdict
  // Whoever left while counters were read is let go by the step that ends every exchange.
  x.throwIfStopped()
}

function toFault(verdict: Exclude<AdmissionVerdict, Admission>, deps: GatewayDeps): Fault {
  if ('refusal' in verdict) return toLimitFault(verdict.refusal, deps.now())
  return new Fault(
    'config_unavailable',
    'What was used of your limits cannot be read right now. Try again shortly.',
    { cause: verdict.unavailable, retryAfterSeconds: 1 },
  )
}
