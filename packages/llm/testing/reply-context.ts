import type { ReplyContext } from '../formats/shared/server-format.ts'
import type { Bill } from '../usage/bill.ts'

/** A bill of a small answer. */
export const BILL: Bill = {
  usage: { uncachedInput: 5, cacheRead: 0, cacheWrite: 0, output: 3, reasoning: 0 },
  isEstimated: false,
  costNanoUsd: 1,
}

/** Returns the context in which an answer of this model is encoded. Of the request nothing is known but what `fields` has. */
export function toReplyContext(
  fields: Pick<ReplyContext, 'model' | 'provider' | 'format'> & Partial<ReplyContext>,
): ReplyContext {
  return {
    requestId: '01890000-0000-7000-8000-000000000000',
    created: 1,
    clock: { elapsedMs: () => 0 },
    isSandbox: false,
    includeUsage: true,
    parsed: {},
    ...fields,
  } as ReplyContext
}
