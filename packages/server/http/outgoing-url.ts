import { isIP } from 'node:net'
import { assertAllowedOrigin, EgressError, type EgressPolicy, isAllowedAddress } from './egress.ts'

/**
 * Returns why a URL from a customer is not allowed, judged by its text alone; undefined if it may be tried. The
 * addresses that its name resolves to are checked when the socket connects (egress.ts).
 */
export function findUrlObjection(text: string, policy: EgressPolicy): string | undefined {
  if (!URL.canParse(text)) return 'must be a URL'
  const url = new URL(text)
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
  const host = url.hostname.replace(/^\[|\]$/g, '')
  return isIP(host) !== 0 && !isAllowedAddress(host, policy)
    ? 'names an address that is not allowed'
    : undefined
}
