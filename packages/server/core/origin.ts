/** A scheme as apps name their own pages, of letters that are also safe in a header. */
const APP_ORIGIN = /^([a-z][a-z0-9+.-]*):\/\/([a-z0-9](?:[a-z0-9._-]*[a-z0-9])?)(?::(\d{1,5}))?$/i

/** Schemes whose pages have no origin of their own that a browser would send. */
const OPAQUE_SCHEMES = ['about', 'blob', 'data', 'file', 'javascript']

/**
 * An origin as a browser writes it in its `Origin` header: `https://app.example`, `capacitor://localhost`. undefined
 * where the text is none: a path, a wildcard, user information.
 */
export function parseOrigin(text: string): string | undefined {
  if (/^https?:/i.test(text)) return parseWebOrigin(text)
  const [, scheme = '', , port] = APP_ORIGIN.exec(text) ?? []
  if (scheme === '' || OPAQUE_SCHEMES.includes(scheme.toLowerCase()) || Number(port ?? 0) > 65_535)
    return undefined
  return text.toLowerCase()
}

function parseWebOrigin(text: string): string | undefined {
  // URL would forgive backslashes, tabs and an empty query; an origin has none of what could follow a host.
  if (!/^https?:\/\/[^\s/\\?#@*]+$/i.test(text) || !URL.canParse(text)) return undefined
  const { origin, hostname } = new URL(text)
  return hostname === '' || hostname.endsWith('.') ? undefined : origin
}
