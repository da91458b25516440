import type { Caller } from '../operation/caller.ts'
import type { Answer } from '../operation/operation.ts'

/**
 * Returns the name of the session cookie. With https its `__Host-` prefix makes browsers enforce this host, every path
 * and TLS; without TLS browsers reject that prefix.
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
 * Sets the session cookie; with `token` undefined, deletes it. It is Lax, not Strict, so that a user who follows a link
 * stays signed in. Writes need more than the cookie (see caller.ts).
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
