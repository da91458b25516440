import { isIP } from 'node:net'
import { parseUrl } from '@rideau/llm/request/bounded-url'
import { type AddressPolicy, assertAllowedOrigin, EgressError, isAllowedAddress } from './egress.ts'

/**
 * Returns why a URL from a customer is not allowed, judged by its text alone; undefined if it may be tried. The
 * addresses that its name resolves to are checked when the socket connects (egress.ts).
 */
export function findUrlObjection(text: string, policy: AddressPolicy): string | undefined {
  const objection = findFormObjection(text, policy)
  if (objection !== undefined) return objection
  const host = parseUrl(text)?.hostname.replace(/^\[|\]$/g, '') ?? ''
  return isIP(host) !== 0 && !isAllowedAddress(host, policy)
    ? 'names an address that is not allowed'
    : undefined
}

/** Returns why the form of a URL is not allowed, whatever its host; undefined if it is allowed. */
export function findFormObjection(text: string, policy: AddressPolicy): string | undefined {
  const url = parseUrl(text)
  if (url === undefined) return 'must be a URL'
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must be an https URL'
  if (url.username !== '' || url.password !== '' || text.includes('#')) {
    return 'takes no credentials and no fragment'
  }
  try {
    assertAllowedOrigin(url.origin, policy)
  } catch (error) {
    if (error instanceof EgressError) return 'must be an https URL on port 443'
    throw error
  }
  return undefined
}
