import type { Fault } from '../../core/fault.ts'
import { toHeaderList, toHeaderText } from '../../http/answer/header-text.ts'
import { limitHeaders } from '../limits/limit-headers.ts'
import { type IdentifiedContext, isIdentified, type RequestContext } from '../request/request-context.ts'
import type { ResolvedTarget } from '../targets/target-selection.ts'
import type { EdgeDeps } from './edge-deps.ts'
import { idHeaders } from './send.ts'

/** The answering target and dropped parameters, for the headers of a 200. */
export interface AnsweringTarget extends ResolvedTarget {
  /** Wire names of parameters that were left out because the environment's `unsupported_params` is `drop`. */
  readonly dropped?: readonly string[]
}

/**
 * Returns the headers of a 200 as [name, value, name, value, ...]. An allow-list: no header of a provider is passed on.
 */
export function answerHeaders(
  ctx: IdentifiedContext,
  { provider, id, dropped = [] }: AnsweringTarget,
  contentType: string,
  deps: EdgeDeps,
): string[] {
  const headers = [
    'Content-Type',
    contentType,
    ...idHeaders(ctx),
    'X-Rideau-Provider',
    provider.id,
    'X-Rideau-Model',
    toHeaderText(id),
    'X-Rideau-Attempts',
    String(Math.max(1, countAttempts(ctx))),
    ...admittedHeaders(ctx, deps),
  ]
  if (dropped.length > 0) headers.push('X-Rideau-Dropped-Params', toHeaderList(dropped))
  return headers
}

const NONE: readonly string[] = []

/**
 * Returns the headers of a failure after the limits admitted its request as [name, value, name, value, ...]: the attempts that
 * were made, and the limits, unless the fault has those of the limit that refused it. Before that a failure has none.
 */
export function failureHeaders(
  ctx: RequestContext,
  fault: Fault,
  deps: Pick<EdgeDeps, 'now'>,
): readonly string[] {
  if (ctx.reservation === undefined || !isIdentified(ctx)) return NONE
  const attempts = countAttempts(ctx)
  return [
    ...(attempts > 0 ? ['X-Rideau-Attempts', String(attempts)] : NONE),
    ...(fault.headers.length > 0 ? NONE : admittedHeaders(ctx, deps)),
  ]
}

/** Returns the state of the limits when they admitted the request, as [name, value, name, value, ...]. */
export function admittedHeaders(ctx: IdentifiedContext, deps: Pick<EdgeDeps, 'now'>): readonly string[] {
  return limitHeaders(ctx.reservation?.meterStatuses, ctx.caller, deps.now())
}

/** How many attempts were made. Those passed over do not count. */
function countAttempts({ attempts, skippedAttempts }: RequestContext): number {
  return attempts.length - skippedAttempts
}
