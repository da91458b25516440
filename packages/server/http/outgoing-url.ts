import { isIP } from 'node:net'
import { checkOrigin, EgressError, type EgressPolicy, isAllowedAddress } from './egress.ts'

/**
 * Why we may not call an address that a customer names, as far as its text tells; undefined: it may be tried. What a
 * name resolves to is judged at the socket's connect (egress.ts).
 */
export function findUrlObjection(text: string, policy: EgressPolicy): string | undefined {
  if (!URL.canParse(text)) return 'must be a URL'
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must be an https URL'
  if (url.username !== '' || url.password !== '' || text.includes('#')) {
    return 'takes no credentials and no fragment'
  }
  try {
    checkOrigin(url.origin, policy)
  } catch (error) {
    if (error instanceof EgressError) return 'must be an https URL on port 443'
    throw error
  }
  const host = url.hostname.replace(/^\[|\]$/g, '')
  return isIP(host) !== 0 && !isAllowedAddress(host, policy)
    ? 'names an address that is not allowed'
    : undefined
}
