const NOT_VISIBLE_ASCII = /[^\x20-\x7e]/

type Headers = Readonly<Record<string, string>>

/**
 * The headers of a request to another host, without those whose value is not visible ASCII: undici refuses some of them by an
 * exception and sends others in an encoding of its own. They are not encoded: a credential or a signature is right as it is or
 * not at all, and its host refuses a request without one.
 */
export function toUpstreamHeaders(headers: Headers): Headers {
  for (const name in headers) if (NOT_VISIBLE_ASCII.test(headers[name] as string)) return withoutBad(headers)
  return headers
}

function withoutBad(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).filter(([, value]) => !NOT_VISIBLE_ASCII.test(value)))
}
