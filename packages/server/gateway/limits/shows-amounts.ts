import type { Meter } from '../../core/limits/meter.ts'
import type { Caller } from '../../core/tenancy/tenancy.ts'

/** What decides which limits a caller may know. */
export type AmountsReader = Pick<Caller, 'kind' | 'keyId'>

/**
 * Whether a caller may know the limit of a meter and what of it is used. A client token is in the hands of an end user, who must not
 * read what its organization may spend and has spent. A member's own token, which no key minted, may: members read budgets anyway.
 */
export function showsAmounts({ kind, keyId }: AmountsReader, { source }: Meter): boolean {
  return kind !== 'client_token' || keyId === null || source.scope === 'end_user'
}
