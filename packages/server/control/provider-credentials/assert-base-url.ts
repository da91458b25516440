import { findProvider } from '@rideau/llm/providers/index'
import { parseUrl } from '@rideau/llm/request/bounded-url'
import { Fault } from '../../core/fault.ts'
import { chargeLookupsTo } from '../../http/egress/egress.ts'
import { findAddressObjection } from '../../http/egress/find-address-objection.ts'
import { toLookupOwner } from '../../http/names/lookup-slots.ts'
import type { Services } from '../operation/operation.ts'

/**
 * Throws 400 if calls with this credential would be refused for its address. Looks a name up, so call it before the first
 * statement. `baseUrl` null: the provider's own address.
 */
export async function assertBaseUrl(
  { egress }: Pick<Services, 'egress'>,
  orgId: string,
  providerId: string,
  baseUrl: string | null,
): Promise<void> {
  const provider = findProvider(providerId)
  // The sandbox calls no host. Some addresses have parts that the options fill in; none of those is private.
  if (provider === undefined || provider.sandbox === true) return
  const address = baseUrl ?? provider.baseUrl
  const url = address === null ? undefined : parseUrl(address)
  if (address === null || url === undefined || /[{}]/.test(address)) return
  const policy = chargeLookupsTo(egress, toLookupOwner(orgId))
  // The names of the catalogue are public, so only their form can be at fault.
  if (baseUrl === null && url.protocol === 'https:') return
  const objection = await findAddressObjection(address, policy)
  if (objection === undefined) return
  throw new Fault('invalid_request', `base_url ${objection}.`, { param: 'base_url' })
}
