/**
 * A base address and the path behind it, as a request names them. By hand: the URL parser costs more than all the rest
 * of a small request. The address was checked when it was stored.
 */
export function joinAddress(baseUrl: string, path: string): { origin: string; path: string } {
  const slash = baseUrl.indexOf('/', baseUrl.indexOf('//') + 2)
  if (slash === -1) return { origin: baseUrl, path }
  return { origin: baseUrl.slice(0, slash), path: baseUrl.slice(slash) + path }
}
