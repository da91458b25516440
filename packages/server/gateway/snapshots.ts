import { Fault } from '../core/fault.ts'
import type { Environment, Key } from '../core/tenancy.ts'

/** A key with the environment that it opens: what a request is served by, from its first step to its last. */
export interface Tenant {
  readonly key: Key
  readonly environment: Environment
}

export interface SnapshotSource {
  findKey(hash: Buffer): Promise<Key | undefined>
  findEnvironment(id: string): Promise<Environment | undefined>
}

export interface SnapshotOptions {
  readonly source: SnapshotSource
  /** Unix milliseconds. */
  readonly now: () => number
  /** How long to serve from memory while announcements do not reach us. */
  readonly maxStaleMs: number
  readonly maxKeys?: number
  readonly maxUnknown?: number
}

/** An unknown key is asked of the database again after this long, or at once after any announced change. */
const UNKNOWN_TTL_MS = 10_000

/** How often a load is repeated when changes keep overtaking it. */
const MAX_LOADS = 5

/**
 * Keys and environments as the gateway holds them in memory. An entry is never changed, only dropped when the database
 * announces a change, so that a request that starts after the announcement loads the new one.
 */
export class Snapshots {
  readonly #source: SnapshotSource
  readonly #now: () => number
  readonly #maxStaleMs: number
  readonly #maxKeys: number
  readonly #maxUnknown: number
  readonly #tenants = new Map<string, Tenant>()
  readonly #unknown = new Map<string, number>()
  readonly #environments = new Map<string, Promise<Environment | undefined>>()
  readonly #loading = new Map<string, Promise<Tenant | undefined>>()
  /** Counts announcements: a load that saw one pass may hold what was true before it. */
  #generation = 0
  #lostAt: number | undefined

  constructor(options: SnapshotOptions) {
    this.#source = options.source
    this.#now = options.now
    this.#maxStaleMs = options.maxStaleMs
    this.#maxKeys = options.maxKeys ?? 100_000
    this.#maxUnknown = options.maxUnknown ?? 50_000
  }

  /** The tenant of a key that is in memory; undefined: ask `load`. `hash` is the key's SHA-256 in hex. */
  find(hash: string): Tenant | undefined {
    if (this.#lostAt !== undefined && this.isTooStale()) return undefined
    return this.#tenants.get(hash)
  }

  /** The tenant of a key, from the database where memory has none; undefined: no such key. */
  async load(hash: string): Promise<Tenant | undefined> {
    if (this.isTooStale()) throw unavailable('announcements of changes have been lost for too long')
    const unknownUntil = this.#unknown.get(hash)
    if (unknownUntil !== undefined && unknownUntil > this.#now()) return undefined
    let loading = this.#loading.get(hash)
    if (loading === undefined) {
      loading = this.#loadFresh(hash).finally(() => this.#loading.delete(hash))
      this.#loading.set(hash, loading)
    }
    return loading
  }

  /** A change of this environment, its keys, credentials, project or organization was announced. */
  invalidate(environmentId: string): void {
    this.#generation++
    this.#environments.delete(environmentId)
    this.#unknown.clear()
    for (const [hash, tenant] of this.#tenants) {
      if (tenant.environment.id === environmentId) this.#tenants.delete(hash)
    }
  }

  /** Anything may have changed. */
  flush(): void {
    this.#generation++
    this.#environments.clear()
    this.#unknown.clear()
    this.#tenants.clear()
  }

  /** Announcements do not reach us any more; what is in memory serves on for a while. */
  markLost(): void {
    this.#lostAt ??= this.#now()
  }

  markRestored(): void {
    this.#lostAt = undefined
    this.flush()
  }

  isLost(): boolean {
    return this.#lostAt !== undefined
  }

  isTooStale(): boolean {
    return this.#lostAt !== undefined && this.#now() - this.#lostAt > this.#maxStaleMs
  }

  async #loadFresh(hash: string): Promise<Tenant | undefined> {
    for (let loads = 1; ; loads++) {
      const generation = this.#generation
      const tenant = await this.#read(hash).catch(cause => {
        throw unavailable(cause)
      })
      const overtaken = generation !== this.#generation
      if (overtaken && loads < MAX_LOADS) continue
      // What changes kept overtaking is answered with, since it began after the request, but not kept.
      if (!overtaken) this.#keep(hash, tenant)
      return tenant
    }
  }

  async #read(hash: string): Promise<Tenant | undefined> {
    const key = await this.#source.findKey(Buffer.from(hash, 'hex'))
    if (key === undefined) return undefined
    const environment = await this.#environment(key.environmentId)
    return environment === undefined ? undefined : { key, environment }
  }

  /** Shared by the keys of an environment, so that a thousand of them hold its credentials once. */
  #environment(id: string): Promise<Environment | undefined> {
    let environment = this.#environments.get(id)
    if (environment === undefined) {
      environment = this.#source.findEnvironment(id)
      this.#environments.set(id, environment)
      const loading = environment
      loading.catch(() => {
        if (this.#environments.get(id) === loading) this.#environments.delete(id)
      })
    }
    return environment
  }

  #keep(hash: string, tenant: Tenant | undefined): void {
    if (tenant === undefined) {
      evictOldest(this.#unknown, this.#maxUnknown)
      this.#unknown.set(hash, this.#now() + UNKNOWN_TTL_MS)
    } else {
      evictOldest(this.#tenants, this.#maxKeys)
      this.#tenants.set(hash, tenant)
    }
  }
}

function evictOldest(map: Map<string, unknown>, max: number): void {
  if (map.size < max) return
  const oldest = map.keys().next().value
  if (oldest !== undefined) map.delete(oldest)
}

function unavailable(cause: unknown): Fault {
  return new Fault(
    'config_unavailable',
    'The configuration could not be loaded right now. Try again shortly.',
    {
      cause,
      retryAfterSeconds: 1,
    },
  )
}
