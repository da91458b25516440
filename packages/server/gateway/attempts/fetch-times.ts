/** How long an address that a caller names may take. Milliseconds from the start of its fetch, redirects included. */
export interface FetchTimes {
  /** When a fetch that has not ended is given up. */
  readonly timeoutMs: number
  /** When a failure is answered, whatever failed and however early. Later than `timeoutMs`. */
  readonly failureMs: number
}

/** The difference covers what follows the timeout on a busy machine. */
export const FETCH_TIMES: FetchTimes = { timeoutMs: 4_500, failureMs: 5_000 }
