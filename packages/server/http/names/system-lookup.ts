import { type LookupAddress, promises } from 'node:dns'
import { type LookupOwner, LookupSlots, toTenant } from './lookup-slots.ts'
import type { HostAnswer } from './query-addresses.ts'

/**
 * getaddrinfo takes a thread of libuv's pool until it returns and cannot be cancelled. libuv gives it half the pool, two
 * threads by default; the other one is left to connections to PostgreSQL and Redis.
 */
const BOUNDS = { total: 1, perTenant: 1, perCaller: 1, waitingPerTenant: 16 }
/** A lookup that took longer bars its tenant from further ones for a while. */
const SLOW_MS = 2_000
const BARRED_MS = 60_000
const MAX_BARRED = 1_000

const UNANSWERED: HostAnswer = { ok: false, reason: 'timeout' }

export type GetAddresses = (hostname: string) => Promise<readonly LookupAddress[]>

/**
 * The system's own resolver, for names that only it knows: of search domains, mDNS or a plug-in. One tenant's names that
 * hang can delay another's for one lookup, then he is barred for a while.
 */
export class SystemLookup {
  readonly #getAddresses: GetAddresses
  readonly #now: () => number
  readonly #slots = new LookupSlots(BOUNDS)
  readonly #barredUntil = new Map<string, number>()

  constructor(
    getAddresses: GetAddresses = hostname => promises.lookup(hostname, { all: true }),
    now: () => number = () => performance.now(),
  ) {
    this.#getAddresses = getAddresses
    this.#now = now
  }

  /** Resolves within `timeoutMs`, and never rejects. */
  async resolve(hostname: string, owner: LookupOwner, timeoutMs: number): Promise<HostAnswer> {
    const deadline = this.#now() + timeoutMs
    if (this.#isBarred(owner) || !(await this.#slots.acquire(owner, timeoutMs))) return UNANSWERED
    // The tenant's previous lookup may have barred him while this one waited.
    if (this.#isBarred(owner)) {
      this.#slots.release(owner)
      return UNANSWERED
    }
    return await new Promise(resolve => {
      const limit = setTimeout(resolve, deadline - this.#now(), UNANSWERED)
      void this.#run(hostname, owner).then(answer => {
        clearTimeout(limit)
        resolve(answer)
      })
    })
  }

  /** Keeps the slot until getaddrinfo returns, whoever still waits for it. */
  async #run(hostname: string, owner: LookupOwner): Promise<HostAnswer> {
    const startedAt = this.#now()
    const answer = await this.#getAddresses(hostname).then(toAnswer, toFailure)
    if (this.#now() - startedAt > SLOW_MS) this.#bar(owner)
    this.#slots.release(owner)
    return answer
  }

  #isBarred(owner: LookupOwner): boolean {
    return this.#now() < (this.#barredUntil.get(toTenant(owner)) ?? 0)
  }

  #bar(owner: LookupOwner): void {
    const tenant = toTenant(owner)
    if (this.#barredUntil.size >= MAX_BARRED) {
      const [oldest] = this.#barredUntil.keys()
      if (oldest !== undefined) this.#barredUntil.delete(oldest)
    }
    this.#barredUntil.delete(tenant)
    this.#barredUntil.set(tenant, this.#now() + BARRED_MS)
  }
}

function toAnswer(addresses: readonly LookupAddress[]): HostAnswer {
  return { ok: true, addresses, ttlMs: 0 }
}

function toFailure(error: NodeJS.ErrnoException): HostAnswer {
  return { ok: false, reason: error.code === 'ENOTFOUND' ? 'unknown' : 'failed' }
}
