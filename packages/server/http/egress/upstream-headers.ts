const NOT_VISIBLE_ASCII = /[^\x20-\x7e]/

type Headers = Readonly<Record<string, string>>

/**
 * Returns the headers of a request to another host without those whose value is not visible ASCII: undici throws for
 * some of these values and sends others in an encoding of its own. The values are not percent-encoded, since an altered
 * credential or signature is wrong anyway; the host rejects the request without the header.
 */
export function toUpstreamHeaders(headers: Headers): Headers {
  for (const name in headers) if (NOT_VISIBLE_ASCII.test(headers[name] as string)) return withoutBad(headers)
  return headers
}

function withoutBad(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).filter(([, value]) => !NOT_VISIBLE_ASCII.test(value)))
}
