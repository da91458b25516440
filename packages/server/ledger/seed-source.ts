import type { Meter, Seed } from '../core/limits/meter.ts'

/** Reads the usage from before a counter existed: from the usage records in PostgreSQL, after this process's journal was written there. */
export interface SeedSource {
  /**
   * Returns one seed per meter, in order. Meters of `in_flight` need no seed and are not passed. Rejects with a `SeedStatementError` when
   * the seeds of these meters cannot be read in time, and with another error when none can be, as where the database cannot be reached.
   *
   * `onSnapshot` is called once, at the moment when it is certain what the seeds contain: every request that this process
   * settled before the call, and those that it settled since then except the ids in `missing`. Requests settled after that
   * moment are not contained. So a caller that collects what settles between its call and the answer, and at the snapshot
   * keeps only the ids in `missing`, counts each request once. Of other processes, the seeds contain what those have stored.
   *
   * Requests whose ids are in `without`, which may be thousands, are left out whether stored or not. Shared counters use
   * this: they know these requests themselves, and other processes may store them at any time.
   *
   * `timeoutMs` bounds the wait for other reads and the statement, which PostgreSQL ends then; not the writing of the journal before the
   * snapshot, which has a bound of its own, nor the wait for a connection.
   */
  read(
    meters: readonly Meter[],
    at: number,
    onSnapshot: (missing: ReadonlySet<string>) => void,
    without: readonly string[] | undefined,
    timeoutMs: number,
  ): Promise<readonly Seed[]>
}

/** The database took the statement, but it failed or took too long. That for other meters, or with more time, may succeed. */
export class SeedStatementError extends Error {}
