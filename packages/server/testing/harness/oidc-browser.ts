import { expect } from 'vitest'
import type { ScriptedIssuer } from '../fakes/scripted-issuer.ts'
import type { ControlPlane } from './control-plane.ts'

export interface OidcSession {
  user: { id: string; email: string; name: string | null }
  memberships: { role: string; organization: { id: string } }[]
}

/** Signs in by OIDC as a browser does. */
export interface OidcBrowser {
  /** Starts a sign-in. `pending` is its cookie, `back` the address that the issuer redirects to. */
  begin(): Promise<{ pending: string; back: string }>
  /** Returns the session, or the status and code of the failure. */
  finish(back: string, pending?: string): Promise<OidcSession | string>
  /** Completes a sign-in with these claims. Returns as `finish` does. */
  signIn(claims: Record<string, unknown>): Promise<OidcSession | string>
}

/** The issuer must be the one that `plane` is configured with. */
export function openOidcBrowser(plane: ControlPlane, issuer: ScriptedIssuer): OidcBrowser {
  async function begin(): Promise<{ pending: string; back: string }> {
    const start = await getPage(`${plane.url}/v1/session/oidc/start`)
    expect(start.status).toBe(302)
    const pending = cookieOf(start.headers, 'rideau_oidc') as string
    return { pending, back: issuer.signIn(start.headers.get('location') as string) }
  }

  async function finish(back: string, pending?: string): Promise<OidcSession | string> {
    const end = await getPage(back, pending)
    if (end.status !== 302)
      return `${end.status} ${((await end.json()) as { error: { code: string } }).error.code}`
    expect(end.headers.get('location')).toBe(`${plane.url}/`)
    const cookie = cookieOf(end.headers, 'rideau_session')
    return (await plane.call<OidcSession>('GET', '/v1/session', { cookie })).json
  }

  return {
    begin,
    finish,
    async signIn(claims) {
      issuer.claims = claims
      const { pending, back } = await begin()
      return await finish(back, pending)
    },
  }
}

/** Gets an address without following its redirect. */
export async function getPage(url: string, cookie?: string): Promise<Response> {
  return await fetch(url, { redirect: 'manual', headers: cookie === undefined ? {} : { cookie } })
}

function cookieOf(headers: Headers, name: string): string | undefined {
  const found = headers.getSetCookie().find(cookie => cookie.startsWith(`${name}=`))
  return found?.split(';', 1)[0]
}
