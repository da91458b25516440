import type { FastifyRequest } from 'fastify'
import { Fault } from '../../core/fault.ts'
import { type TrustedProxies, toClientAddress } from '../../http/head/client-address.ts'

/** The caller as described by the head of the request; nothing is authenticated yet. */
export interface Caller {
  readonly method: string
  readonly authorization: string | undefined
  readonly cookies: Readonly<Record<string, string | undefined>>
  readonly host: string | undefined
  readonly origin: string | undefined
  /** The `X-Rideau-CSRF` header, which a page of another site cannot send. */
  readonly csrf: string | undefined
  /** The client's IP address, also behind a trusted proxy. */
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

/**
 * Throws 403 `csrf_failed` unless an unsafe call by cookie comes from a page of this host: a page of another site can
 * make a browser send cookies too.
 */
export function assertSameOriginWrite(caller: Caller, baseUrl: string): void {
  if (caller.method === 'GET') return
  if (caller.csrf !== '1') {
    throw new Fault('csrf_failed', 'A write with a session cookie needs the header X-Rideau-CSRF: 1.', {
      param: 'X-Rideau-CSRF',
    })
  }
  if (caller.origin === undefined) {
    throw new Fault('csrf_failed', 'A write with a session cookie needs an Origin header.', {
      param: 'Origin',
    })
  }
  assertSameOrigin(caller, baseUrl)
}

/**
 * Throws 403 `csrf_failed` if the Origin header names another origin than the base URL's or the Host header's. A page
 * cannot set either header in a browser.
 */
export function assertSameOrigin({ origin, host }: Caller, baseUrl: string): void {
  if (origin === undefined || origin === new URL(baseUrl).origin || origin === `http://${host}`) return
  throw new Fault('csrf_failed', 'The Origin header does not match this host (see RIDEAU_BASE_URL).', {
    param: 'Origin',
  })
}
