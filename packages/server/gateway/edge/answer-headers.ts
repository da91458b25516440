import { toHeaderList, toHeaderText } from '../../http/header-text.ts'
import { limitHeaders } from '../limits/limit-headers.ts'
import type { ResolvedTarget } from '../plan/call-plan.ts'
import type { RequestContext } from '../request/request-context.ts'
import type { EdgeDeps } from './edge-deps.ts'
import { idHeaders } from './send.ts'

/** What a 200 tells of who answered, besides its body. */
export interface AnsweredBy extends ResolvedTarget {
  /** Parameters left out because the environment says `drop`. */
  readonly dropped?: readonly string[]
}

/** Headers of a 200, as name, value, name, value: an allow-list of our own, nothing of a provider's. */
export function answerHeaders(
  ctx: RequestContext,
  { provider, id, dropped = [] }: AnsweredBy,
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
    String(Math.max(1, ctx.attempts.length)),
  ]
  headers.push(...limitHeaders(ctx.reservation?.meterStatuses, deps.now()))
  if (dropped.length > 0) headers.push('X-Rideau-Dropped-Params', toHeaderList(dropped))
  return headers
}
