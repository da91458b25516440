import type { LookupAddress } from 'node:dns'
import { FairCache } from '../../core/admission/fair-cache.ts'
import type { SlotBounds } from '../fairness/fair-slots.ts'
import { type LookupOwner, LookupSlots, toHolder } from './lookup-slots.ts'
import type { HostAnswer } from './query-addresses.ts'

/** How long a caller waits for a name's addresses, and how long a lookup may take. */
export const LOOKUP_TIMEOUT_MS = 3_000
const MIN_TTL_MS = 5_000
const MAX_TTL_MS = 60_000
/** How long a name that does not exist is not asked for again. */
const UNKNOWN_MS = 5_000
/** How long a name whose lookup failed is not asked for again. */
const FAILED_MS = 1_000
/** How long a name whose lookup took too long is not asked for again: each such lookup holds a slot for as long. */
const TIMED_OUT_MS = 10_000
/** How long addresses are used after they expired, while DNS servers do not answer. */
const STALE_MS = 600_000
const MAX_CACHED = 1_000

const TIMED_OUT: HostAnswer = { ok: false, reason: 'timeout' }
const CODES = { unknown: 'ENOTFOUND', timeout: 'ETIMEOUT', failed: 'EAI_FAIL' } as const

/** A name has no known address. The code is one of Node's. */
export class LookupError extends Error {
  override readonly name = 'LookupError'
  readonly code: string

  constructor(reason: keyof typeof CODES) {
    super(`the name could not be resolved: ${reason}`)
    this.code = CODES[reason]
  }
}

/**
 * Asks for the addresses of a name, within `timeoutMs`. Never rejects. Its answer goes to all who ask for the name, so it
 * must not depend on the owner, whose share is used.
 */
export type LookUpHost = (hostname: string, owner: LookupOwner, timeoutMs: number) => Promise<HostAnswer>

export interface HostResolverOptions {
  readonly lookUp: LookUpHost
  readonly bounds: SlotBounds
  /** Milliseconds from any point in time. Default: performance.now(). */
  readonly now?: () => number
}

interface CacheEntry {
  readonly answer: HostAnswer
  readonly expiresAt: number
  /** The time until which the answer is used if no other can be had. */
  readonly staleUntil: number
  /** How often the answer was used, so that its addresses take turns. */
  uses: number
}

/** What resolves names for the egress guard. */
export type Hosts = Pick<HostResolver, 'resolve'>

/** Resolves names to addresses, with a cache that organizations share, one lookup for concurrent callers of a name, and a share for each owner. */
export class HostResolver {
  readonly #lookUp: LookUpHost
  readonly #slots: LookupSlots
  readonly #now: () => number
  readonly #cache = new FairCache<CacheEntry>(MAX_CACHED)
  readonly #running = new Map<string, Promise<HostAnswer>>()

  constructor({ lookUp, bounds, now = () => performance.now() }: HostResolverOptions) {
    this.#lookUp = lookUp
    this.#slots = new LookupSlots(bounds)
    this.#now = now
  }

  /**
   * Returns the addresses of a name: IPv4 and IPv6 in turns, beginning with another address each time. Throws LookupError
   * if there are none, or none are known within LOOKUP_TIMEOUT_MS.
   */
  async resolve(hostname: string, owner: LookupOwner): Promise<LookupAddress[]> {
    const answer = this.#findCached(hostname) ?? this.#orStale(hostname, await this.#share(hostname, owner))
    if (!answer.ok) throw new LookupError(answer.reason)
    return inTurns(answer.addresses, this.#countUse(hostname, owner))
  }

  #findCached(hostname: string): HostAnswer | undefined {
    const entry = this.#cache.find(hostname)
    if (entry === undefined) return undefined
    return this.#now() < entry.expiresAt ? entry.answer : undefined
  }

  /** Returns the answer; if it has none because DNS servers failed, the addresses that the name had before. */
  #orStale(hostname: string, answer: HostAnswer): HostAnswer {
    if (answer.ok || answer.reason === 'unknown') return answer
    const entry = this.#cache.find(hostname)
    return entry?.answer.ok === true && this.#now() < entry.staleUntil ? entry.answer : answer
  }

  #countUse(hostname: string, owner: LookupOwner): number {
    const entry = this.#cache.use(toHolder(owner), hostname)
    return entry === undefined ? 0 : entry.uses++
  }

  /** Waits for the running lookup of the name, or starts one as soon as the owner has a slot. */
  async #share(hostname: string, owner: LookupOwner): Promise<HostAnswer> {
    const shared = this.#running.get(hostname)
    // A lookup that waits for its owner's slot is not shared: it would make others wait for that owner.
    if (shared !== undefined) return await shared
    const deadline = this.#now() + LOOKUP_TIMEOUT_MS
    if (!(await this.#slots.acquire(owner, LOOKUP_TIMEOUT_MS))) return TIMED_OUT
    const known = this.#findCached(hostname) ?? this.#running.get(hostname)
    if (known !== undefined) this.#slots.release(owner)
    return await within(known ?? this.#start(hostname, owner), deadline - this.#now())
  }

  /** Starts a lookup, which has its whole time whatever its first caller has left of his. */
  #start(hostname: string, owner: LookupOwner): Promise<HostAnswer> {
    const lookup = this.#lookUp(hostname, owner, LOOKUP_TIMEOUT_MS)
      .finally(() => {
        this.#running.delete(hostname)
        this.#slots.release(owner)
      })
      .then(answer => {
        this.#store(hostname, owner, answer)
        return answer
      })
    this.#running.set(hostname, lookup)
    return lookup
  }

  #store(hostname: string, owner: LookupOwner, found: HostAnswer): void {
    const earlier = this.#cache.find(hostname)
    const answer = this.#orStale(hostname, found)
    const now = this.#now()
    const expiresAt = now + toLifetimeMs(found)
    const isStale = answer !== found && earlier !== undefined
    const staleUntil = isStale ? earlier.staleUntil : expiresAt + STALE_MS
    const entry = { answer, expiresAt, staleUntil, uses: earlier?.uses ?? 0 }
    this.#cache.set(toHolder(owner), hostname, entry)
  }
}

function toLifetimeMs(answer: HostAnswer): number {
  if (answer.ok) return Math.min(MAX_TTL_MS, Math.max(MIN_TTL_MS, answer.ttlMs))
  const { reason } = answer
  if (reason === 'unknown') return UNKNOWN_MS
  return reason === 'timeout' ? TIMED_OUT_MS : FAILED_MS
}

/** Resolves like the answer, or as timed out after `timeoutMs`. */
function within(answer: HostAnswer | Promise<HostAnswer>, timeoutMs: number): Promise<HostAnswer> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, timeoutMs, TIMED_OUT)
    Promise.resolve(answer)
      .finally(() => clearTimeout(timer))
      .then(resolve, reject)
  })
}

/** Returns the addresses of both families in turns, IPv4 first, each family beginning at `shift`. */
function inTurns(addresses: readonly LookupAddress[], shift: number): LookupAddress[] {
  const [v4, v6] = [4, 6].map(wanted => {
    const own = addresses.filter(({ family }) => family === wanted)
    const start = own.length === 0 ? 0 : shift % own.length
    return [...own.slice(start), ...own.slice(0, start)]
  }) as [LookupAddress[], LookupAddress[]]
  const result: LookupAddress[] = []
  for (let i = 0; i < Math.max(v4.length, v6.length); i++) {
    const pair = [v4[i], v6[i]]
    for (const entry of pair) if (entry !== undefined) result.push(entry)
  }
  return result
}
