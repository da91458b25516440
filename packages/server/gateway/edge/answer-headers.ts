import { toHeaderList, toHeaderText } from '../../http/header-text.ts'
import { limitHeaders } from '../limits/limit-headers.ts'
import type { ResolvedTarget } from '../plan/call-plan.ts'
import type { IdentifiedContext } from '../request/request-context.ts'
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
    String(Math.max(1, ctx.attempts.length - ctx.skippedAttempts)),
  ]
  headers.push(...limitHeaders(ctx.reservation?.meterStatuses, ctx.caller, deps.now()))
  if (dropped.length > 0) headers.push('X-Rideau-Dropped-Params', toHeaderList(dropped))
  return headers
}
