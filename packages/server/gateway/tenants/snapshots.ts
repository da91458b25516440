import type { ClientTokenClaims } from '../../core/client-token.ts'
import { Fault } from '../../core/fault.ts'
import {
  type Caller,
  type EndUser,
  type Environment,
  type Key,
  type Life,
  type TokenMinter,
  toCaller,
} from '../../core/tenancy.ts'
import { toTokenCaller, toTokenLife } from './token-caller.ts'

/** A credential with the environment that it opens: what a request is served by, from its first step to its last. */
export interface Tenant {
  readonly caller: Caller
  readonly life: Life
  readonly environment: Environment
}

export interface SnapshotSource {
  findKey(hash: Buffer): Promise<Key | undefined>
  findEnvironment(id: string): Promise<Environment | undefined>
  /** The key or the member behind a client token, as it stands now; undefined: there is none any more. */
  findMinter(claims: ClientTokenClaims): Promise<TokenMinter | undefined>
  /** What is set for an end user, also for one that has no record. */
  findEndUser(environmentId: string, id: string): Promise<EndUser>
}

export interface SnapshotOptions {
  readonly source: SnapshotSource
  /** Unix milliseconds. */
  readonly now: () => number
  /** How long to serve from memory while announcements do not reach us. */
  readonly maxStaleMs: number
  readonly maxKeys?: number
  readonly maxUnknown?: number
  readonly maxTokens?: number
  readonly maxEndUsers?: number
}

/** An unknown key is asked of the database again after this long, or at once after any announced change. */
const UNKNOWN_TTL_MS = 10_000

/** How often a load is repeated when changes keep overtaking it. */
const MAX_LOADS = 5

/**
 * Credentials, environments and end users as the gateway holds them in memory. An entry is never changed, only dropped when the database
 * announces a change, so that a request that starts after the announcement loads the new one.
 */
export class Snapshots {
  readonly #source: SnapshotSource
  readonly #now: () => number
  readonly #maxStaleMs: number
  readonly #maxKeys: number
  readonly #maxUnknown: number
  readonly #maxTokens: number
  readonly #maxEndUsers: number
  readonly #tenants = new Map<string, Tenant>()
  /** Those of client tokens, apart: there may be millions, and none may push out a key. */
  readonly #tokens = new Map<string, Tenant>()
  readonly #unknown = new Map<string, number>()
  /** By environment and id. */
  readonly #endUsers = new Map<string, EndUser>()
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
    this.#maxTokens = options.maxTokens ?? 50_000
    this.#maxEndUsers = options.maxEndUsers ?? 50_000
  }

  /** The tenant of a credential that is in memory; undefined: ask `load`. `hash` is its SHA-256 in hex. */
  find(hash: string): Tenant | undefined {
    if (this.#lostAt !== undefined && this.isTooStale()) return undefined
    return this.#tenants.get(hash) ?? this.#tokens.get(hash)
  }

  /** The tenant of a key, from the database where memory has none; undefined: no such key. */
  async load(hash: string): Promise<Tenant | undefined> {
    this.#assertFresh()
    const unknownUntil = this.#unknown.get(hash)
    if (unknownUntil !== undefined && unknownUntil > this.#now()) return undefined
    return this.#shareLoad(hash, () =>
      this.#loadFresh(
        () => this.#readKey(hash),
        tenant => this.#keep(hash, tenant),
      ),
    )
  }

  /** The tenant of a verified client token; undefined: it names an environment that is none. */
  async loadToken(hash: string, claims: ClientTokenClaims): Promise<Tenant | undefined> {
    this.#assertFresh()
    return this.#shareLoad(hash, () =>
      this.#loadFresh(
        () => this.#readToken(claims),
        tenant => {
          if (tenant !== undefined) keepBounded(this.#tokens, hash, tenant, this.#maxTokens)
        },
      ),
    )
  }

  /** An end user that is in memory; undefined: ask `loadEndUser`. */
  findEndUser(environmentId: string, id: string): EndUser | undefined {
    if (this.#lostAt !== undefined && this.isTooStale()) return undefined
    return this.#endUsers.get(endUserKey(environmentId, id))
  }

  async loadEndUser(environmentId: string, id: string): Promise<EndUser> {
    this.#assertFresh()
    const key = endUserKey(environmentId, id)
    return this.#loadFresh(
      () => this.#source.findEndUser(environmentId, id),
      endUser => keepBounded(this.#endUsers, key, endUser, this.#maxEndUsers),
    )
  }

  /** A change of this environment, its keys, credentials, project or organization was announced. */
  invalidate(environmentId: string): void {
    this.#generation++
    this.#environments.delete(environmentId)
    this.#unknown.clear()
    for (const tenants of [this.#tenants, this.#tokens]) {
      for (const [hash, tenant] of tenants) if (tenant.environment.id === environmentId) tenants.delete(hash)
    }
    for (const key of this.#endUsers.keys()) {
      if (key.startsWith(environmentId)) this.#endUsers.delete(key)
    }
  }

  /** Anything may have changed. */
  flush(): void {
    this.#generation++
    this.#environments.clear()
    this.#unknown.clear()
    this.#tenants.clear()
    this.#tokens.clear()
    this.#endUsers.clear()
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

  #assertFresh(): void {
    if (this.isTooStale()) throw unavailable('announcements of changes have been lost for too long')
  }

  /** Who comes while a tenant is loaded waits for that load. */
  #shareLoad(hash: string, load: () => Promise<Tenant | undefined>): Promise<Tenant | undefined> {
    let loading = this.#loading.get(hash)
    if (loading === undefined) {
      loading = load().finally(() => this.#loading.delete(hash))
      this.#loading.set(hash, loading)
    }
    return loading
  }

  async #loadFresh<T>(read: () => Promise<T>, keep: (value: T) => void): Promise<T> {
    for (let loads = 1; ; loads++) {
      const generation = this.#generation
      const value = await read().catch(cause => {
        throw unavailable(cause)
      })
      const overtaken = generation !== this.#generation
      if (overtaken && loads < MAX_LOADS) continue
      // What changes kept overtaking is answered with, since it began after the request, but not kept.
      if (!overtaken) keep(value)
      return value
    }
  }

  async #readKey(hash: string): Promise<Tenant | undefined> {
    const key = await this.#source.findKey(Buffer.from(hash, 'hex'))
    if (key === undefined) return undefined
    const environment = await this.#environment(key.environmentId)
    if (environment === undefined) return undefined
    const { expiresAt, revokedAt } = key
    return { caller: toCaller(key), life: { expiresAt, revokedAt }, environment }
  }

  async #readToken(claims: ClientTokenClaims): Promise<Tenant | undefined> {
    const [environment, minter, endUser] = await Promise.all([
      this.#environment(claims.env),
      this.#source.findMinter(claims),
      this.#source.findEndUser(claims.env, claims.sub),
    ])
    // A token that contradicts itself was signed for nobody.
    if (environment?.orgId !== claims.org || environment.projectId !== claims.prj) return undefined
    return { caller: toTokenCaller(claims, minter, endUser), life: toTokenLife(claims, minter), environment }
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
    if (tenant !== undefined) keepBounded(this.#tenants, hash, tenant, this.#maxKeys)
    else keepBounded(this.#unknown, hash, this.#now() + UNKNOWN_TTL_MS, this.#maxUnknown)
  }
}

/** Both parts together name one end user: an environment's id has a fixed length. */
function endUserKey(environmentId: string, id: string): string {
  return environmentId + id
}

/** Makes room by the oldest entry. */
function keepBounded<V>(map: Map<string, V>, key: string, value: V, max: number): void {
  const oldest = map.size < max ? undefined : map.keys().next().value
  if (oldest !== undefined) map.delete(oldest)
  map.set(key, value)
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
