import type { CallerId, ShareOwner } from '../../core/admission/connection-shares.ts'

/** Callers whose debts are kept at most: those that ran up debts longest ago are forgotten first. */
const MAX_CALLERS = 4_096

/**
 * How long callers must wait because of work that they made the event loop do. A debt is paid by the passing of time. Each
 * key, and each end user with a client token, has its own.
 */
export class CallerDebts {
  readonly #maxMs: number
  readonly #freeMs: number
  /** When each caller's debt is paid, by performance.now. */
  readonly #paidAt = new Map<string, number>()

  /** `maxMs`: the largest debt. `freeMs`: a debt that need not be waited for. */
  constructor(maxMs: number, freeMs: number) {
    this.#maxMs = maxMs
    this.#freeMs = freeMs
  }

  /** Adds `ms` milliseconds to a caller's debt. `now`: by performance.now. */
  add({ caller }: ShareOwner, ms: number, now: number): void {
    if (caller === undefined) return
    const name = nameOf(caller)
    const paidAt = Math.max(this.#paidAt.get(name) ?? 0, now) + ms
    this.#paidAt.delete(name)
    if (this.#paidAt.size >= MAX_CALLERS) this.#forget(now)
    this.#paidAt.set(name, Math.min(paidAt, now + this.#maxMs))
  }

  /** Returns how long the caller must wait now, in milliseconds. */
  waitMs({ caller }: ShareOwner, now: number): number {
    if (this.#paidAt.size === 0 || caller === undefined) return 0
    const paidAt = this.#paidAt.get(nameOf(caller))
    return paidAt === undefined ? 0 : Math.max(0, paidAt - now - this.#freeMs)
  }

  #forget(now: number): void {
    for (const [name, paidAt] of this.#paidAt) if (paidAt <= now) this.#paidAt.delete(name)
    if (this.#paidAt.size < MAX_CALLERS) return
    const [oldest] = this.#paidAt.keys()
    if (oldest !== undefined) this.#paidAt.delete(oldest)
  }
}

function nameOf({ keyId, endUser }: CallerId): string {
  return `${keyId} ${endUser?.id ?? ''}`
}
