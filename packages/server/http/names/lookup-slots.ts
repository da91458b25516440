import { FairSlots, type SlotBounds } from '../fairness/fair-slots.ts'

/** Whose share of the lookups is used. A request context is one. */
export interface LookupOwner {
  /** The tenant: an environment or, outside requests, another id of who configured the name. undefined: unknown. */
  readonly environment: { readonly id: string; readonly orgId?: string } | undefined
  readonly caller: { readonly keyId: string | null } | undefined
  readonly endUser: { readonly id: string } | undefined
  /** The organization that asks, where the share is that of a host which several ask for. */
  readonly askedBy?: string | undefined
}

/** Returns an owner outside requests, by an id that is his alone. */
export function toLookupOwner(id: string, askedBy?: string): LookupOwner {
  return { environment: { id }, caller: undefined, endUser: undefined, askedBy }
}

/** Returns the id of an owner's tenant. */
export function toTenant({ environment }: LookupOwner): string {
  return environment?.id ?? ''
}

/** The lookups of names that may run at once. */
export class LookupSlots {
  readonly #slots: FairSlots

  constructor(bounds: SlotBounds) {
    this.#slots = new FairSlots(bounds)
  }

  /** See `acquire` of FairSlots. */
  acquire(owner: LookupOwner, timeoutMs: number): Promise<boolean> {
    return this.#slots.acquire(toTenant(owner), toCallerKey(owner), timeoutMs, toOrganization(owner))
  }

  release(owner: LookupOwner): void {
    this.#slots.release(toTenant(owner), toCallerKey(owner), toOrganization(owner))
  }
}

/** Returns who holds what is remembered of an answer: an organization may ask for very many hosts, each of which has a share. */
export function toHolder(owner: LookupOwner): string {
  return owner.askedBy ?? toOrganization(owner)
}

/** An owner outside requests is often an organization itself, and counts together with its environments then. */
export function toOrganization(owner: LookupOwner): string {
  return owner.environment?.orgId ?? toTenant(owner)
}

/** Returns a key that no tenant and no other caller has: only the end user's id, its last part, may contain a space. */
export function toCallerKey(owner: LookupOwner): string {
  return `${toTenant(owner)} ${owner.caller?.keyId ?? ''} ${owner.endUser?.id ?? ''}`
}
