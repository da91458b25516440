import { FairCache } from '../core/admission/fair-cache.ts'
import type { Clock } from '../core/clock.ts'
import type { FederatedConfig } from '../core/tenancy/federated-config.ts'
import { FairSlots } from '../http/fairness/fair-slots.ts'
import { FederatedConfigError, type KeySets } from './key-sets.ts'

export interface KeySetCacheOptions {
  /** Fetches the key sets of a configuration. Throws FederatedConfigError if that fails. */
  readonly fetch: (config: FederatedConfig) => Promise<KeySets>
  readonly clock: Clock
}

/** How long key sets are used without being fetched again. */
const FRESH_MS = 10 * 60_000
/** How much longer they are used while they cannot be fetched. */
const STALE_MS = 60 * 60_000
/** The shortest time between two fetches that unknown keys cause. */
const REFRESH_MS = 30_000
/** The wait after a failure; it doubles with each further one. */
const FIRST_BACKOFF_MS = 5_000
const MAX_BACKOFF_MS = 60_000

/** A key set takes up to 200 KiB, and mostly 5. */
const MAX_ENTRIES = 500

/** Fetches at once, of which an organization starts few. */
const FETCHES = { total: 512, perTenant: 32, perCaller: 32, waitingPerTenant: 128 }
const WAIT_MS = 3_000

interface Entry {
  keySets: KeySets | undefined
  fetchedAt: number
  /** The start of the last fetch. */
  askedAt: number
  /** Why the last fetch failed; undefined after a success. */
  failure: FederatedConfigError | undefined
  failures: number
  retryAt: number
  pending: Promise<void> | undefined
  /** The organizations that wait until they may fetch. */
  readonly waiting: Map<string, Promise<void>>
}

/**
 * Keeps the key sets of identity providers, so that a token costs no request to its provider. Configurations with the same
 * issuers share an entry, and organizations the room for entries. Ask with the issuer of one token alone (findOwnConfig): an entry
 * fails as a whole, for all organizations. So `fetch` must use the share of none of them; how many fetches each starts is bounded here.
 * Whatever tokens and providers do, a provider gets one request at a time, at most one in 30 seconds because of
 * unknown keys, and fewer and fewer while it fails.
 */
export class KeySetCache {
  readonly #fetch: KeySetCacheOptions['fetch']
  readonly #clock: Clock
  readonly #entries = new FairCache<Entry>(MAX_ENTRIES)
  readonly #slots = new FairSlots(FETCHES)

  constructor({ fetch, clock }: KeySetCacheOptions) {
    this.#fetch = fetch
    this.#clock = clock
  }

  get size(): number {
    return this.#entries.size
  }

  /** Returns the key sets of a configuration. Throws FederatedConfigError if there are none that may be used. */
  async get(config: FederatedConfig): Promise<KeySets> {
    const entry = this.#touch(config)
    const now = this.#clock.now()
    if (entry.keySets !== undefined && now < entry.fetchedAt + FRESH_MS) return entry.keySets
    if (entry.pending !== undefined || now >= entry.retryAt) await this.#load(entry, config)
    const { keySets, failure } = entry
    const isUsable = this.#clock.now() < entry.fetchedAt + FRESH_MS + STALE_MS
    if (keySets !== undefined && isUsable) return keySets
    throw failure ?? new FederatedConfigError('issuer', 'The key set could not be fetched.')
  }

  /**
   * Fetches the key sets again because a token names a key that `used` does not have. Returns `used` if they were fetched less than
   * 30 seconds ago, or cannot be fetched.
   */
  async refresh(config: FederatedConfig, used: KeySets): Promise<KeySets> {
    const entry = this.#touch(config)
    if (entry.keySets === used) {
      const mayRefresh = this.#clock.now() >= Math.max(entry.askedAt + REFRESH_MS, entry.retryAt)
      if (entry.pending !== undefined || mayRefresh) await this.#load(entry, config)
    }
    return entry.keySets ?? used
  }

  /**
   * Concurrent callers share one fetch. One that waits for its organization's turn is not shared with others: they would wait for that
   * organization. Never throws FederatedConfigError: the entry holds it.
   */
  #load(entry: Entry, config: FederatedConfig): Promise<void> {
    const { orgId = '' } = config
    const shared = entry.pending ?? entry.waiting.get(orgId)
    if (shared !== undefined) return shared
    const started = this.#startFetch(entry, config, orgId).finally(() => entry.waiting.delete(orgId))
    entry.waiting.set(orgId, started)
    return started
  }

  async #startFetch(entry: Entry, config: FederatedConfig, orgId: string): Promise<void> {
    const { askedAt } = entry
    const caller = `caller in ${orgId}`
    if (!(await this.#slots.acquire(orgId, caller, WAIT_MS))) return
    try {
      const isFetched = entry.pending === undefined && entry.askedAt !== askedAt
      if (isFetched) return
      entry.pending ??= this.#fetchInto(entry, config).finally(() => {
        entry.pending = undefined
      })
      await entry.pending
    } finally {
      this.#slots.release(orgId, caller)
    }
  }

  async #fetchInto(entry: Entry, config: FederatedConfig): Promise<void> {
    entry.askedAt = this.#clock.now()
    try {
      entry.keySets = await this.#fetch(config)
      entry.fetchedAt = this.#clock.now()
      entry.failure = undefined
      entry.failures = 0
      entry.retryAt = 0
    } catch (error) {
      if (!(error instanceof FederatedConfigError)) throw error
      entry.failure = error
      const backoffMs = Math.min(FIRST_BACKOFF_MS * 2 ** entry.failures, MAX_BACKOFF_MS)
      entry.failures += 1
      entry.retryAt = this.#clock.now() + backoffMs
    }
  }

  /** Finds or creates an entry, which the configuration's organization holds from now on. */
  #touch({ orgId = '', issuers, jwksUrl, algorithms }: FederatedConfig): Entry {
    // Everything that the fetch depends on.
    const key = JSON.stringify([issuers, jwksUrl, algorithms])
    const known = this.#entries.use(orgId, key)
    if (known !== undefined) return known
    const entry = createEntry()
    this.#entries.set(orgId, key, entry)
    return entry
  }
}

function createEntry(): Entry {
  return {
    keySets: undefined,
    fetchedAt: Number.NEGATIVE_INFINITY,
    askedAt: Number.NEGATIVE_INFINITY,
    failure: undefined,
    failures: 0,
    retryAt: 0,
    pending: undefined,
    waiting: new Map(),
  }
}
