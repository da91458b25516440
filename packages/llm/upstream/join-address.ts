import { ReservedFieldError } from './authorize-request.ts'

/** A segment `.` or `..` before the query, also where its slash is escaped. */
const CLIMBS = /^[^?]*(?:\/|%2f)\.\.?(?:\/|%2f|\?|$)/i

/**
 * A base address and the path behind it, as a request names them. By hand: the URL parser costs more than all the rest
 * of a small request. The address was checked when it was stored. Throws ReservedFieldError for a path in which a model's name would
 * lead elsewhere, as servers and proxies read it.
 */
export function joinAddress(baseUrl: string, path: string): { origin: string; path: string } {
  if (CLIMBS.test(path))
    throw new ReservedFieldError('model', false, 'must not have . or .. between slashes.')
  const slash = baseUrl.indexOf('/', baseUrl.indexOf('//') + 2)
  if (slash === -1) return { origin: baseUrl, path }
  return { origin: baseUrl.slice(0, slash), path: baseUrl.slice(slash) + path }
}
