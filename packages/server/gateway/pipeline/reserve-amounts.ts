import { Fault } from '../../core/fault.ts'
import type { MeterSet } from '../../core/limits/list-meters.ts'
import type { Amounts } from '../../ledger/ledger.ts'
import { toLimitFault } from '../limits/limit-fault.ts'
import { Reservation, type ReservationVerdict } from '../limits/reservations.ts'
import type { IdentifiedContext } from '../request/request-context.ts'
import type { ResolvedTarget, TargetSelection } from '../targets/target-selection.ts'
import type { PipelineDeps } from './pipeline-deps.ts'

/** What a request reserves, and on which limits. */
export interface ReservationRequest {
  readonly limits: MeterSet
  /** True if only the sandbox may answer the request. */
  readonly isSandbox: boolean
  readonly amounts: Amounts
}

const NOTHING: Amounts = { tokens: 0, nanoUsd: 0 }

/**
 * Makes one atomic reservation on every limit, quota and budget of the request, which settle.ts ends. Throws the fault
 * of the limit that refuses; nothing is reserved then. Required of every route that can call a provider: attemptTargets
 * throws without a reservation.
 */
export function reserveAmounts(
  ctx: IdentifiedContext,
  deps: PipelineDeps,
  request: ReservationRequest,
): void | Promise<void> {
  const verdict = tryReserveAmounts(ctx, deps, request)
  if (verdict instanceof Promise) return verdict.then(result => acceptReservation(ctx, deps, result))
  acceptReservation(ctx, deps, verdict)
}

/** Like reserveAmounts, but returns the verdict, for callers that can reserve less. */
export function tryReserveAmounts(
  ctx: IdentifiedContext,
  deps: PipelineDeps,
  { limits, isSandbox, amounts }: ReservationRequest,
): ReservationVerdict | Promise<ReservationVerdict> {
  const meters = isSandbox ? limits.sandboxMeters : limits.meters
  const reserved = limits.hasAmountMeter ? amounts : NOTHING
  return deps.reservations.open(ctx.id, ctx.arrivedAt, limits.subject, meters, reserved)
}

/** Keeps an admitted reservation in the context. Throws the fault of a refused one, or of a stopped request. */
export function acceptReservation(
  ctx: IdentifiedContext,
  deps: PipelineDeps,
  verdict: ReservationVerdict,
): void {
  if (!(verdict instanceof Reservation)) {
    if ('refusal' in verdict) ctx.refusal = verdict.refusal
    throw toReservationFault(verdict, ctx, deps)
  }
  ctx.reservation = verdict
  // If the caller disconnected meanwhile, the end of the request releases the reservation.
  ctx.assertNotStopped()
}

function toReservationFault(
  verdict: Exclude<ReservationVerdict, Reservation>,
  { caller }: IdentifiedContext,
  deps: PipelineDeps,
): Fault {
  if ('refusal' in verdict) return toLimitFault(verdict.refusal, caller, deps.now())
  return new Fault(
    'config_unavailable',
    'The usage of your limits cannot be read right now. Try again shortly.',
    { cause: verdict.unavailable, retryAfterSeconds: 1 },
  )
}

/** Whether only the sandbox may answer the request. Limits of money do not apply then. */
export function isSandboxOnly({ targets }: TargetSelection<ResolvedTarget>): boolean {
  return targets.every(({ provider }) => provider.sandbox === true)
}
