import type { FastifyRequest } from 'fastify'
import { Fault } from '../../core/fault.ts'
import { type TrustedProxies, toClientAddress } from '../../http/client-address.ts'

/** Who calls, as far as the request's head tells. */
export interface Caller {
  readonly method: string
  readonly authorization: string | undefined
  readonly cookies: Readonly<Record<string, string | undefined>>
  readonly host: string | undefined
  readonly origin: string | undefined
  /** The `X-Rideau-CSRF` header, which no other site's page can send. */
  readonly csrf: string | undefined
  /** The client's, also behind a trusted proxy. */
  readonly address: string
}

export function toCaller(request: FastifyRequest, trustedProxies: TrustedProxies): Caller {
  const { method, headers, cookies, raw } = request
  const header = (name: string): string | undefined => headers[name]?.toString()
  return {
    method,
    authorization: headers.authorization,
    cookies,
    host: headers.host,
    origin: headers.origin,
    csrf: header('x-rideau-csrf'),
    address: toClientAddress(raw.socket.remoteAddress, header('x-forwarded-for'), trustedProxies),
  }
}

/** An unsafe call by cookie must come from a page of this host: another site's page can make a browser send cookies. */
export function assertSameOriginWrite(caller: Caller, baseUrl: string): void {
  if (caller.method === 'GET') return
  if (caller.csrf !== '1') {
    throw new Fault('csrf_failed', 'A call by cookie that changes something needs X-Rideau-CSRF: 1.', {
      param: 'X-Rideau-CSRF',
    })
  }
  if (caller.origin === undefined) {
    throw new Fault('csrf_failed', 'A call by cookie that changes something needs its Origin.', {
      param: 'Origin',
    })
  }
  assertSameOrigin(caller, baseUrl)
}

/**
 * Where a call names its origin, that must be this host's own: the base URL's, or the listener's as the caller addressed
 * it. A browser lets no page write either header.
 */
export function assertSameOrigin({ origin, host }: Caller, baseUrl: string): void {
  if (origin === undefined || origin === new URL(baseUrl).origin || origin === `http://${host}`) return
  throw new Fault('csrf_failed', "The call's Origin is not this host's own (see RIDEAU_BASE_URL).", {
    param: 'Origin',
  })
}
