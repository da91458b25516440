import { Fault } from '../../core/fault.ts'
import type { MeterSet } from '../../core/list-meters.ts'
import type { Amounts } from '../../ledger/ledger.ts'
import { toLimitFault } from '../limits/limit-fault.ts'
import { Reservation, type ReservationVerdict } from '../limits/reservations.ts'
import type { CallPlan, ResolvedTarget } from '../plan/call-plan.ts'
import type { RequestContext } from '../request/request-context.ts'
import type { PipelineDeps } from './pipeline-deps.ts'

/** What a request asks of its limits. */
export interface ReservationRequest {
  readonly limits: MeterSet
  /** May only the sandbox answer it? */
  readonly isSandbox: boolean
  readonly amounts: Amounts
}

const NOTHING: Amounts = { tokens: 0, nanoUsd: 0 }

/**
 * One atomic hold over every limit, quota and budget that concerns the request; settle.ts ends it. Throws what refuses
 * it, and then nothing is held. Every route that can reach a provider passes here: callTargets insists on it.
 */
export function reserveAmounts(
  ctx: RequestContext,
  deps: PipelineDeps,
  request: ReservationRequest,
): void | Promise<void> {
  const verdict = tryReserveAmounts(ctx, deps, request)
  if (verdict instanceof Promise) return verdict.then(each => accept(ctx, deps, each))
  accept(ctx, deps, verdict)
}

/** As admit, but a refusal is a value: for who can ask for less. */
export function tryReserveAmounts(
  ctx: RequestContext,
  deps: PipelineDeps,
  { limits, isSandbox, amounts }: ReservationRequest,
): ReservationVerdict | Promise<ReservationVerdict> {
  const meters = isSandbox ? limits.sandboxMeters : limits.meters
  return deps.reservations.open(ctx.id, limits.subject, meters, limits.hasAmountMeter ? amounts : NOTHING)
}

export function accept(ctx: RequestContext, deps: PipelineDeps, verdict: ReservationVerdict): void {
  if (!(verdict instanceof Reservation)) throw toFault(verdict, deps)
  ctx.reservation = verdict
  // Whoever left while counters were read is let go by the step that ends every request.
  ctx.throwIfStopped()
}

function toFault(verdict: Exclude<ReservationVerdict, Reservation>, deps: PipelineDeps): Fault {
  if ('refusal' in verdict) return toLimitFault(verdict.refusal, deps.now())
  return new Fault(
    'config_unavailable',
    'What was used of your limits cannot be read right now. Try again shortly.',
    { cause: verdict.unavailable, retryAfterSeconds: 1 },
  )
}

/** May only the sandbox answer it? Then no limit of money concerns it. */
export function isSandboxOnly({ targets }: CallPlan<ResolvedTarget>): boolean {
  return targets.every(({ provider }) => provider.sandbox === true)
}
