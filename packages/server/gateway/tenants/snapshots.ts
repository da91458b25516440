import type { ClientTokenClaims } from '../../core/access/client-token.ts'
import { Fault } from '../../core/fault.ts'
import {
  type Caller,
  type EndUser,
  type Environment,
  type Key,
  type Lifetime,
  type TokenMinter,
  toCaller,
} from '../../core/tenancy/tenancy.ts'
import { within } from '../../http/within.ts'
import { type AdmissionKeys, toAdmissionKeys } from './admission-keys.ts'
import { type EnvironmentName, SnapshotTable } from './snapshot-table.ts'
import { toTokenCaller, toTokenLifetime } from './token-caller.ts'

/** A credential and the environment that it belongs to. A request uses one Tenant before its body is read, and one from then on. */
export interface Tenant {
  readonly caller: Caller
  readonly lifetime: Lifetime
  readonly environment: Environment
  readonly admissionKeys: AdmissionKeys
}

export interface SnapshotSource {
  findKey(hash: Buffer): Promise<Key | undefined>
  findEnvironment(id: string): Promise<Environment | undefined>
  /** Returns the current rights of the key or member that minted a client token. undefined: it no longer exists. */
  findMinter(claims: ClientTokenClaims): Promise<TokenMinter | undefined>
  /** True while tokens that are signed by this key may be valid. */
  isSigningKey(kid: string): Promise<boolean>
  /** Returns an end user's settings. An end user without a record gets the defaults. */
  getEndUser(environmentId: string, id: string): Promise<EndUser>
}

/** What names a snapshot, and all that is needed to load it. */
export type SnapshotName =
  | readonly ['key', hash: string]
  | readonly ['token', hash: string, claims: ClientTokenClaims, kid: string]
  | readonly ['end_user', orgId: string, environmentId: string, id: string]

export interface SnapshotOptions {
  readonly source: SnapshotSource
  /** Called with what was loaded for a request. Absent: nothing else needs it. */
  readonly onLoaded?: ((name: SnapshotName) => void) | undefined
  /** Unix milliseconds. */
  readonly now: () => number
  /** How long snapshots are served while change notifications are lost, in milliseconds. */
  readonly maxStaleMs: number
  /** How long a caller waits for the database. Default: 2 seconds. */
  readonly maxLoadMs?: number
  readonly maxKeys?: number
  readonly maxUnknown?: number
  readonly maxTokens?: number
  readonly maxEndUsers?: number
  /** The approximate memory for everything that is loaded. */
  readonly maxBytes?: number
}

interface Changes {
  isAll: boolean
  readonly environmentIds: Set<string>
}

/** How far a load has come. */
interface LoadProgress {
  /** The number of notified changes of which what it returned certainly has those that concern it. */
  seen: number
}

interface SharedLoad {
  readonly progress: LoadProgress
  readonly tenant: Promise<Tenant | undefined>
}

/** The default for each worker. */
const MAX_BYTES = 256 * 1024 * 1024

/** Milliseconds after which an unknown key is queried again. Any change notification also clears it. */
const UNKNOWN_TTL_MS = 10_000

/** Much shorter than the timeout of a query, so that a frozen database does not hold requests. */
const MAX_LOAD_MS = 2_000

/** How often a load is repeated when changes keep invalidating it, within the given part of the time for loads. */
const MAX_LOADS = 5
const REPEAT_PART = 1 / 4

/**
 * Credentials, environments and end users, cached in memory. Entries are never changed, only dropped when the database
 * notifies a change, so that a request that starts after the notification loads the new state.
 */
export class Snapshots {
  readonly #source: SnapshotSource
  readonly #onLoaded: (name: SnapshotName) => void
  readonly #now: () => number
  readonly #maxStaleMs: number
  readonly #maxLoadMs: number
  readonly #maxUnknown: number
  readonly #table: SnapshotTable<Tenant>
  readonly #unknown = new Map<string, number>()
  readonly #loading = new Map<string, SharedLoad>()
  /** How many changes were notified. */
  #changeCount = 0
  /** What changed during each running load, which may have read the state before. */
  readonly #changes = new Set<Changes>()
  #lostAt: number | undefined

  constructor(options: SnapshotOptions) {
    this.#source = options.source
    this.#onLoaded = options.onLoaded ?? (() => {})
    this.#now = options.now
    this.#maxStaleMs = options.maxStaleMs
    this.#maxLoadMs = options.maxLoadMs ?? MAX_LOAD_MS
    this.#maxUnknown = options.maxUnknown ?? 50_000
    this.#table = new SnapshotTable<Tenant>({
      maxKeys: options.maxKeys ?? 100_000,
      maxTokens: options.maxTokens ?? 50_000,
      maxEndUsers: options.maxEndUsers ?? 50_000,
      maxBytes: options.maxBytes ?? MAX_BYTES,
    })
  }

  /**
   * Returns the cached tenant of a credential, or undefined if it must be loaded. `hash` is the credential's SHA-256 in
   * hex.
   */
  find(hash: string): Tenant | undefined {
    if (this.#lostAt !== undefined && this.isTooStale()) return undefined
    return this.#table.findTenant(hash)
  }

  /**
   * Returns the tenant of a key, from the database if it is not cached. undefined: there is no such key. Throws
   * `config_unavailable` if it cannot be loaded.
   */
  async load(hash: string): Promise<Tenant | undefined> {
    this.#assertFresh()
    const unknownUntil = this.#unknown.get(hash)
    if (unknownUntil !== undefined && unknownUntil > this.#now()) return undefined
    return this.#shareLoad(hash, progress => this.#loadKey(hash, progress, this.#onLoaded))
  }

  /**
   * Returns the tenant of a client token that was verified by the key `kid`. undefined: its environment does not exist or does not
   * match its claims, or the key was removed meanwhile.
   */
  async loadToken(hash: string, claims: ClientTokenClaims, kid: string): Promise<Tenant | undefined> {
    this.#assertFresh()
    return this.#shareLoad(hash, progress => this.#loadToken(hash, claims, kid, progress, this.#onLoaded))
  }

  /** Returns a cached end user, or undefined if it must be loaded. */
  findEndUser(environmentId: string, id: string): EndUser | undefined {
    if (this.#lostAt !== undefined && this.isTooStale()) return undefined
    return this.#table.findEndUser(environmentId, id)
  }

  async loadEndUser(environment: EnvironmentName, id: string): Promise<EndUser> {
    this.#assertFresh()
    return this.#loadEndUser(environment, id, this.#onLoaded)
  }

  /** Loads what another process has loaded, so that requests find it here too while the database is out of reach. */
  async preload(name: SnapshotName): Promise<void> {
    const [kind, first, second, third] = name
    if (kind === 'end_user') {
      if (this.findEndUser(second, third) === undefined)
        await this.#loadEndUser({ orgId: first, id: second }, third)
    } else if (this.find(first) === undefined) {
      await this.#shareLoad(first, progress =>
        kind === 'key' ? this.#loadKey(first, progress) : this.#loadToken(first, second, third, progress),
      )
    }
  }

  /** Drops everything of an environment after a change of it, its keys, credentials, project or organization. */
  invalidate(environmentId: string): void {
    this.#changeCount++
    for (const { environmentIds } of this.#changes) environmentIds.add(environmentId)
    this.#unknown.clear()
    this.#table.drop(environmentId)
  }

  /** Drops everything. */
  flush(): void {
    this.#changeCount++
    for (const changes of this.#changes) changes.isAll = true
    this.#unknown.clear()
    this.#table.clear()
  }

  /** Records that change notifications are lost. Snapshots are served for `maxStaleMs` from then on. */
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

  #loadKey(
    hash: string,
    progress: LoadProgress,
    onLoaded?: (name: SnapshotName) => void,
  ): Promise<Tenant | undefined> {
    return this.#loadFresh(
      progress,
      () => this.#readKey(hash),
      tenant => {
        this.#keep(hash, tenant)
        if (tenant !== undefined) onLoaded?.(['key', hash])
      },
      tenant => tenant?.environment.id,
    )
  }

  #loadToken(
    hash: string,
    claims: ClientTokenClaims,
    kid: string,
    progress: LoadProgress,
    onLoaded?: (name: SnapshotName) => void,
  ): Promise<Tenant | undefined> {
    return this.#loadFresh(
      progress,
      () => this.#readToken(claims, kid),
      tenant => {
        if (tenant === undefined) return
        this.#table.keepToken(hash, tenant)
        onLoaded?.(['token', hash, claims, kid])
      },
      () => claims.env,
    )
  }

  #loadEndUser(
    environment: EnvironmentName,
    id: string,
    onLoaded?: (name: SnapshotName) => void,
  ): Promise<EndUser> {
    return this.#loadFresh(
      { seen: 0 },
      () => this.#source.getEndUser(environment.id, id),
      endUser => {
        this.#table.keepEndUser(environment, id, endUser)
        onLoaded?.(['end_user', environment.orgId, environment.id, id])
      },
      () => environment.id,
    )
  }

  /** Concurrent callers share one load, unless what it returns is older than a change that a caller must see. */
  async #shareLoad(
    hash: string,
    load: (progress: LoadProgress) => Promise<Tenant | undefined>,
  ): Promise<Tenant | undefined> {
    const mustSee = this.#changeCount
    for (;;) {
      let shared = this.#loading.get(hash)
      if (shared === undefined) {
        const progress = { seen: 0 }
        shared = { progress, tenant: load(progress).finally(() => this.#loading.delete(hash)) }
        this.#loading.set(hash, shared)
      }
      const tenant = await shared.tenant
      if (shared.progress.seen >= mustSee) return tenant
    }
  }

  /**
   * Rejects with `config_unavailable` if the database takes too long. What it returns later is kept all the same. `environmentOf`: whose
   * changes concern the value; undefined: those of any environment do.
   */
  #loadFresh<T>(
    progress: LoadProgress,
    read: () => Promise<T>,
    keep: (value: T) => void,
    environmentOf: (value: T) => string | undefined,
  ): Promise<T> {
    return this.#within(this.#loadUntilFresh(progress, read, keep, environmentOf))
  }

  #within<T>(load: Promise<T>): Promise<T> {
    return within(this.#maxLoadMs, load, () =>
      unavailable(`the database did not answer within ${this.#maxLoadMs} ms`),
    )
  }

  async #loadUntilFresh<T>(
    progress: LoadProgress,
    read: () => Promise<T>,
    keep: (value: T) => void,
    environmentOf: (value: T) => string | undefined,
  ): Promise<T> {
    const startedAt = performance.now()
    for (let loads = 1; ; loads++) {
      const changes: Changes = { isAll: false, environmentIds: new Set() }
      const begunAt = this.#changeCount
      this.#changes.add(changes)
      const value = await read()
        .catch(cause => {
          throw unavailable(cause)
        })
        .finally(() => this.#changes.delete(changes))
      const overtaken = concerns(changes, environmentOf(value))
      const hasTime = performance.now() - startedAt < this.#maxLoadMs * REPEAT_PART
      if (overtaken && loads < MAX_LOADS && hasTime) continue
      // A load that changes kept invalidating began after the request, so it may answer it. It is not cached.
      if (!overtaken) keep(value)
      progress.seen = overtaken ? begunAt : Number.POSITIVE_INFINITY
      return value
    }
  }

  async #readKey(hash: string): Promise<Tenant | undefined> {
    const key = await this.#source.findKey(Buffer.from(hash, 'hex'))
    if (key === undefined) return undefined
    const environment = await this.#environment(key.environmentId)
    if (environment === undefined) return undefined
    const { expiresAt, revokedAt } = key
    return toTenant(toCaller(key), { expiresAt, revokedAt }, environment)
  }

  async #readToken(claims: ClientTokenClaims, kid: string): Promise<Tenant | undefined> {
    const [isSigningKey, environment, minter, endUser] = await Promise.all([
      // The signature was verified before, by this process or another one, maybe by a key that was removed since.
      this.#source.isSigningKey(kid),
      this.#environment(claims.env),
      this.#source.findMinter(claims),
      this.#source.getEndUser(claims.env, claims.sub),
    ])
    if (!isSigningKey) return undefined
    // The token's claims contradict its environment.
    if (environment?.orgId !== claims.org || environment.projectId !== claims.prj) return undefined
    return toTenant(toTokenCaller(claims, minter, endUser), toTokenLifetime(claims, minter), environment)
  }

  #environment(id: string): Promise<Environment | undefined> {
    // Bounded by itself, so that no later load waits for a query that is stuck.
    return this.#table.environment(id, missing => this.#within(this.#source.findEnvironment(missing)))
  }

  #keep(hash: string, tenant: Tenant | undefined): void {
    if (tenant !== undefined) this.#table.keepKey(hash, tenant)
    else keepBounded(this.#unknown, hash, this.#now() + UNKNOWN_TTL_MS, this.#maxUnknown)
  }
}

function concerns({ isAll, environmentIds }: Changes, environmentId: string | undefined): boolean {
  return isAll || (environmentId === undefined ? environmentIds.size > 0 : environmentIds.has(environmentId))
}

function toTenant(caller: Caller, lifetime: Lifetime, environment: Environment): Tenant {
  return { caller, lifetime, environment, admissionKeys: toAdmissionKeys(caller, environment) }
}

/** Sets an entry and evicts the oldest one if the map is full. */
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
