import { within } from '../../http/within.ts'

/** How long a request of the gateway waits for the database, unless its step has a bound of its own. */
const ASK_MS = 5_000

/**
 * Resolves like a call of the database, or rejects after ASK_MS. A frozen database keeps a call for up to 40 s: 10 s for
 * a connection and 30 s for the statement.
 */
export function askDatabase<Result>(call: Promise<Result>, timeoutMs: number = ASK_MS): Promise<Result> {
  return within(timeoutMs, call, () => new Error(`no answer of the database in ${timeoutMs} ms`))
}
