import { isIP } from 'node:net'
import { parseUrl } from '@rideau/llm/request/bounded-url'
import { LookupError } from '../names/host-resolver.ts'
import { type AddressPolicy, type EgressPolicy, isAllowedAddress } from './egress.ts'
import { findUrlObjection } from './outgoing-url.ts'

/** The setting that allows private addresses. */
const SETTING = 'RIDEAU_ALLOW_PRIVATE_UPSTREAMS'
const PRIVATE_ALLOWED: AddressPolicy = { allowPrivate: true }

/**
 * Returns why no connection to a URL would be allowed, with the name of the setting that would allow it; undefined: it
 * may be stored. Where private addresses are not allowed its name is looked up, within the time of the egress. A name that
 * cannot be resolved now is accepted: the guard checks every connection (egress.ts).
 */
export async function findAddressObjection(text: string, egress: EgressPolicy): Promise<string | undefined> {
  const objection = findUrlObjection(text, egress)
  if (objection !== undefined) {
    return findUrlObjection(text, PRIVATE_ALLOWED) === undefined ? withSetting(objection) : objection
  }
  const host = parseUrl(text)?.hostname ?? ''
  if (egress.allowPrivate || isIP(host.replace(/^\[|\]$/g, '')) !== 0) return undefined
  const addresses = await listAddresses(host, egress)
  if (addresses.every(address => isAllowedAddress(address, egress))) return undefined
  const message = 'names a host with an address that is not allowed'
  return addresses.every(address => isAllowedAddress(address, PRIVATE_ALLOWED))
    ? withSetting(message)
    : message
}

function withSetting(objection: string): string {
  return `${objection} (${SETTING} is off)`
}

async function listAddresses(host: string, { hosts, owner }: EgressPolicy): Promise<string[]> {
  try {
    return (await hosts.resolve(host, owner)).map(({ address }) => address)
  } catch (error) {
    if (error instanceof LookupError) return []
    throw error
  }
}
