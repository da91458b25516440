import type { Connection } from './connection.ts'
import { reservationsKey } from './keys.ts'
import type { ScriptClock } from './script-clock.ts'

/** How long after the last request of an organization its leases are still checked. */
const WATCHED_MS = 7_200_000

/** Expires the leases of the organizations that this process has served lately. */
export class LeaseExpirer {
  readonly #connection: Connection
  readonly #clock: ScriptClock
  /** By organization: time of its last request. */
  readonly #lastRequests = new Map<string, number>()

  constructor(connection: Connection, clock: ScriptClock) {
    this.#connection = connection
    this.#clock = clock
  }

  noteRequest(orgId: string, at: number): void {
    this.#lastRequests.set(orgId, at)
  }

  /** Resolves with the number of reservations that expired. Never rejects. */
  async expire(at: number): Promise<number> {
    let expired = 0
    for (const [orgId, lastRequestAt] of this.#lastRequests) {
      const { run, commands } = this.#connection
      if (run === undefined) return expired
      if (lastRequestAt + WATCHED_MS < at) this.#lastRequests.delete(orgId)
      try {
        expired += await commands.expireLeases(reservationsKey(run, orgId), this.#clock.time())
      } catch (error) {
        this.#connection.reportFailure(error)
      }
    }
    return expired
  }
}
