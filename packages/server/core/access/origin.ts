import { parseUrl } from '@rideau/llm/request/bounded-url'

/** The origin of an app's own pages, of characters that are safe in a header. */
const APP_ORIGIN = /^([a-z][a-z0-9+.-]*):\/\/([a-z0-9](?:[a-z0-9._-]*[a-z0-9])?)(?::(\d{1,5}))?$/i

/** Schemes whose pages have an opaque origin, which a browser sends as `null`. */
const OPAQUE_SCHEMES = ['about', 'blob', 'data', 'file', 'javascript']

/**
 * Returns an origin in the form of a browser's `Origin` header: `https://app.example`, `capacitor://localhost`. Returns
 * undefined if the text is not an origin, for example because it has a path, a wildcard or user information.
 */
export function parseOrigin(text: string): string | undefined {
  if (/^https?:/i.test(text)) return parseWebOrigin(text)
  const [, scheme = '', , port] = APP_ORIGIN.exec(text) ?? []
  if (scheme === '' || OPAQUE_SCHEMES.includes(scheme.toLowerCase()) || Number(port ?? 0) > 65_535)
    return undefined
  return text.toLowerCase()
}

function parseWebOrigin(text: string): string | undefined {
  // URL accepts backslashes, tabs and an empty query. An origin ends with its host and port.
  const url = /^https?:\/\/[^\s/\\?#@*]+$/i.test(text) ? parseUrl(text) : undefined
  if (url === undefined) return undefined
  const { origin, hostname } = url
  return hostname === '' || hostname.endsWith('.') ? undefined : origin
}
