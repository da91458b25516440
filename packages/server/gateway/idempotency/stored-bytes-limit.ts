/** The database removes what is too much this often (jobs/idempotency-job.ts). */
const PERIOD_MS = 300_000
/** What a row takes besides its answer. */
const ROW_BYTES = 512

/** Bounds what a process stores for each organization between two removals, so that no flood fills the database. */
export class StoredBytesLimit {
  readonly #maxBytes: number
  readonly #byOrganization = new Map<string, number>()
  #endsAt = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Counts an answer. Returns false, and counts nothing, if its organization has stored too much. `now` in milliseconds. */
  add(orgId: string, bytes: number, now: number): boolean {
    if (now >= this.#endsAt) {
      this.#byOrganization.clear()
      this.#endsAt = now + PERIOD_MS
    }
    const total = (this.#byOrganization.get(orgId) ?? 0) + bytes + ROW_BYTES
    if (total > this.#maxBytes) return false
    this.#byOrganization.set(orgId, total)
    return true
  }
}
