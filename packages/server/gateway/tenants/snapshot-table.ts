import { FairCache } from '../../core/admission/fair-cache.ts'
import { estimateBytes, estimateBytesInTicks } from '../../core/estimate-bytes.ts'
import type { Caller, EndUser, Environment } from '../../core/tenancy/tenancy.ts'

/** An environment and whose it is. */
export type EnvironmentName = Pick<Environment, 'id' | 'orgId'>

/** A credential and its environment. */
interface CallerEntry {
  readonly caller: Caller
  readonly environment: Environment
}

export interface SnapshotBounds {
  readonly maxKeys: number
  readonly maxTokens: number
  readonly maxEndUsers: number
  /** The approximate memory for everything. */
  readonly maxBytes: number
}

/** What is in memory of one environment. */
interface Entry<Tenant> {
  readonly id: string
  /** undefined: nothing of it was counted yet. */
  orgId: string | undefined
  /** The environment itself, or the load of it. */
  environment: Promise<Environment | undefined> | undefined
  bytes: number
  /** By the hashes of their credentials. */
  readonly tenants: Map<string, KeptTenant<Tenant>>
  /** By endUserKey. */
  readonly endUsers: Map<string, EndUser>
}

interface KeptTenant<Tenant> {
  readonly tenant: Tenant
  readonly bytes: number
}

/** What a tenant takes besides what its caller holds. */
const TENANT_BYTES = 512
/** The part of all bytes above which an organization makes room for itself only. */
const OWN_PART = 1 / 8

/**
 * Tenants, environments and end users in memory, by environment, so that a change of one costs no look at the others. Where
 * there is no room for more of them, the organization with the most gives up what it loaded first. Where there is no room for more
 * bytes, the environment that was loaded first is dropped with all that belongs to it; one of the same organization, if that has more
 * than its part. So none can push out the others.
 */
export class SnapshotTable<Tenant extends CallerEntry> {
  readonly #bounds: SnapshotBounds
  /** What is kept of each credential and end user, by the entry that has it. One that was dropped has nothing any more. */
  readonly #keys: FairCache<Entry<Tenant>>
  /** Client tokens. Kept apart, since millions of tokens must not evict keys. */
  readonly #tokens: FairCache<Entry<Tenant>>
  readonly #endUsers: FairCache<Entry<Tenant>>
  /** Those loaded first come first. */
  readonly #environments = new Map<string, Entry<Tenant>>()
  readonly #bytesOf = new Map<string, number>()
  #bytes = 0

  constructor(bounds: SnapshotBounds) {
    this.#bounds = bounds
    const forgetTenant = (hash: string, entry: Entry<Tenant>): void => this.#forgetTenant(hash, entry)
    this.#keys = new FairCache(bounds.maxKeys, forgetTenant)
    this.#tokens = new FairCache(bounds.maxTokens, forgetTenant)
    this.#endUsers = new FairCache(bounds.maxEndUsers, (key, entry) => {
      if (entry.endUsers.delete(key)) this.#forgetIfEmpty(entry)
    })
  }

  /** What everything takes of memory, about. */
  get bytes(): number {
    return this.#bytes
  }

  findTenant(hash: string): Tenant | undefined {
    const entry = this.#keys.find(hash) ?? this.#tokens.find(hash)
    return entry?.tenants.get(hash)?.tenant
  }

  findEndUser(environmentId: string, id: string): EndUser | undefined {
    return this.#environments.get(environmentId)?.endUsers.get(endUserKey(environmentId, id))
  }

  /** Returns the environment, shared by all of its tenants. A load that fails or finds nothing is forgotten. */
  environment(
    id: string,
    load: (id: string) => Promise<Environment | undefined>,
  ): Promise<Environment | undefined> {
    const entry = this.#entryOf(id)
    if (entry.environment !== undefined) return entry.environment
    const loading = load(id)
    entry.environment = loading
    const forget = (): void => {
      if (entry.environment === loading) entry.environment = undefined
      this.#forgetIfEmpty(entry)
    }
    loading.then(async environment => {
      if (environment === undefined) return forget()
      const bytes = await estimateBytesInTicks(environment)
      // It may have been dropped meanwhile.
      if (this.#environments.get(id) === entry) this.#count(entry, environment.orgId, bytes)
    }, forget)
    return loading
  }

  keepKey(hash: string, tenant: Tenant): void {
    this.#keep(this.#keys, hash, tenant)
  }

  keepToken(hash: string, tenant: Tenant): void {
    this.#keep(this.#tokens, hash, tenant)
  }

  keepEndUser({ id: environmentId, orgId }: EnvironmentName, id: string, endUser: EndUser): void {
    const key = endUserKey(environmentId, id)
    const entry = this.#entryOf(environmentId)
    entry.endUsers.set(key, endUser)
    this.#endUsers.set(orgId, key, entry)
  }

  /**
   * Drops everything of an environment, in a time that does not grow with it. The names of what it had count on in the caches of their
   * organization, until they are used again or are the first for which there is no room.
   */
  drop(environmentId: string): void {
    const entry = this.#environments.get(environmentId)
    if (entry === undefined) return
    this.#environments.delete(environmentId)
    // The caches keep the entry, and must not keep what it had.
    entry.environment = undefined
    entry.tenants.clear()
    entry.endUsers.clear()
    this.#add(entry, -entry.bytes)
  }

  clear(): void {
    this.#environments.clear()
    this.#keys.clear()
    this.#tokens.clear()
    this.#endUsers.clear()
    this.#bytesOf.clear()
    this.#bytes = 0
  }

  #entryOf(id: string): Entry<Tenant> {
    const known = this.#environments.get(id)
    if (known !== undefined) return known
    const entry: Entry<Tenant> = {
      id,
      orgId: undefined,
      environment: undefined,
      bytes: 0,
      tenants: new Map(),
      endUsers: new Map(),
    }
    this.#environments.set(id, entry)
    return entry
  }

  #keep(cache: FairCache<Entry<Tenant>>, hash: string, tenant: Tenant): void {
    const { caller, environment } = tenant
    const bytes = TENANT_BYTES + estimateBytes(caller)
    const entry = this.#entryOf(environment.id)
    const earlier = entry.tenants.get(hash)?.bytes ?? 0
    entry.tenants.set(hash, { tenant, bytes })
    cache.set(environment.orgId, hash, entry)
    this.#count(entry, environment.orgId, bytes - earlier)
  }

  #forgetTenant(hash: string, entry: Entry<Tenant>): void {
    const kept = entry.tenants.get(hash)
    if (kept === undefined) return
    entry.tenants.delete(hash)
    this.#add(entry, -kept.bytes)
    this.#forgetIfEmpty(entry)
  }

  #forgetIfEmpty(entry: Entry<Tenant>): void {
    if (entry.environment !== undefined || entry.tenants.size > 0 || entry.endUsers.size > 0) return
    // It may have been dropped, and loaded again.
    if (this.#environments.get(entry.id) === entry) this.#environments.delete(entry.id)
  }

  /** Counts more bytes of an environment, and makes room for them. */
  #count(entry: Entry<Tenant>, orgId: string, bytes: number): void {
    entry.orgId = orgId
    this.#add(entry, bytes)
    while (this.#bytes > this.#bounds.maxBytes) {
      const first = this.#findFirst(orgId)
      if (first === undefined) return
      this.drop(first.id)
    }
  }

  #findFirst(orgId: string): Entry<Tenant> | undefined {
    const isOwn = (this.#bytesOf.get(orgId) ?? 0) > this.#bounds.maxBytes * OWN_PART
    for (const entry of this.#environments.values())
      if (entry.bytes > 0 && (!isOwn || entry.orgId === orgId)) return entry
    return undefined
  }

  #add(entry: Entry<Tenant>, bytes: number): void {
    const { orgId } = entry
    if (orgId === undefined) return
    entry.bytes += bytes
    this.#bytes += bytes
    const ofOrg = (this.#bytesOf.get(orgId) ?? 0) + bytes
    if (ofOrg > 0) this.#bytesOf.set(orgId, ofOrg)
    else this.#bytesOf.delete(orgId)
  }
}

/** Unique, since environment ids have a fixed length. */
function endUserKey(environmentId: string, id: string): string {
  return environmentId + id
}
