import type { Caller } from '../operation/caller.ts'
import type { Answer } from '../operation/operation.ts'

/**
 * Under https the name's prefix makes browsers hold to what is set here: this host alone, every path, never in the
 * clear. Without TLS no such promise can be made.
 */
function nameOf(baseUrl: string): string {
  return isSecure(baseUrl) ? '__Host-rideau_session' : 'rideau_session'
}

function isSecure(baseUrl: string): boolean {
  return baseUrl.startsWith('https:')
}

export function readSessionToken(caller: Caller, baseUrl: string): string | undefined {
  return caller.cookies[nameOf(baseUrl)]
}

/**
 * Lax, not Strict, so that who comes by a link is signed in; what changes something needs more than the cookie (see
 * caller.ts). `token` undefined: the browser forgets it.
 */
export function setSessionCookie(
  answer: Answer,
  token: string | undefined,
  maxAgeMs: number,
  baseUrl: string,
): void {
  answer.setCookie(nameOf(baseUrl), token ?? '', {
    path: '/',
    httpOnly: true,
    sameSite: 'lax',
    secure: isSecure(baseUrl),
    maxAge: token === undefined ? 0 : Math.floor(maxAgeMs / 1000),
  })
}
