import type { Meter, Seed } from '../core/limits/meter.ts'

/** Reads the usage from before a counter existed: from the usage records in PostgreSQL, after this process's journal was written there. */
export interface SeedSource {
  /**
   * Returns one seed per meter, in order. Meters of `in_flight` need no seed and are not passed. Rejects when the database
   * cannot be reached.
   *
   * `onSnapshot` is called once, at the moment when it is certain what the seeds contain: every request that this process
   * settled before the call, and those that it settled since then except the ids in `missing`. Requests settled after that
   * moment are not contained. So a caller that collects what settles between its call and the answer, and at the snapshot
   * keeps only the ids in `missing`, counts each request once. Of other processes, the seeds contain what those have stored.
   *
   * Requests whose ids are in `without`, which may be thousands, are left out whether stored or not. Shared counters use
   * this: they know these requests themselves, and other processes may store them at any time.
   */
  read(
    meters: readonly Meter[],
    at: number,
    onSnapshot: (missing: ReadonlySet<string>) => void,
    without?: readonly string[],
  ): Promise<readonly Seed[]>
}
