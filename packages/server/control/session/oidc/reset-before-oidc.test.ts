import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  OIDC_CLIENT,
  openScriptedIssuer,
  type ScriptedIssuer,
} from '../../../testing/fakes/scripted-issuer.ts'
import {
  type ControlPlane,
  openControlPlane,
  type Person,
  type Tenant,
} from '../../../testing/harness/control-plane.ts'
import { type OidcBrowser, type OidcSession, openOidcBrowser } from '../../../testing/harness/oidc-browser.ts'

const RESET_PASSWORD = 'known to who made the link'

let issuer: ScriptedIssuer
/** Signs in by `issuer`. */
let plane: ControlPlane
/** The same deployment while OIDC is off. */
let withoutOidc: ControlPlane
/** The same deployment with another issuer. */
let other: { issuer: ScriptedIssuer; plane: ControlPlane; browser: OidcBrowser }
let browser: OidcBrowser
let tenant: Tenant
beforeAll(async () => {
  issuer = await openScriptedIssuer()
  plane = await openControlPlane({ oidc: { issuer: issuer.url, ...OIDC_CLIENT, allowInsecure: true } })
  browser = openOidcBrowser(plane, issuer)
  const { clock, newId } = plane
  const shared = { db: plane.database.db, clock, newId }
  withoutOidc = await openControlPlane(shared)
  const otherIssuer = await openScriptedIssuer()
  const oidc = { issuer: otherIssuer.url, ...OIDC_CLIENT, allowInsecure: true }
  const otherPlane = await openControlPlane({ ...shared, oidc })
  other = { issuer: otherIssuer, plane: otherPlane, browser: openOidcBrowser(otherPlane, otherIssuer) }
  tenant = await plane.insertTenant('acme')
})
afterAll(async () => {
  for (const each of [plane, withoutOidc, other.plane]) await each.close()
  for (const each of [issuer, other.issuer]) await each.close()
})
beforeEach(() => plane.clock.advance(60_000))

interface Linked {
  readonly person: Person
  readonly memberId: string
  /** The claims by which the person signs in. */
  readonly claims: { readonly sub: string; readonly email: string; readonly email_verified: boolean }
}

/** Inserts a member who has signed in by the issuer. */
async function insertLinked(): Promise<Linked> {
  const person = await plane.insertPerson()
  const memberId = await plane.insertMember(tenant.organization.id, person, 'developer')
  const claims = { sub: plane.newId(), email: person.user.email, email_verified: true }
  expect(await browser.signIn(claims)).toMatchObject({ user: { id: person.user.id } })
  return { person, memberId, claims }
}

/** Resets the member's password with a link of the owner, while OIDC is off. Returns the cookie of the session that starts. */
async function reset({ memberId }: Linked): Promise<string> {
  const { cookie } = tenant.people.owner
  const made = await withoutOidc.call<{ reset_url: string }>('POST', `/v1/members/${memberId}/reset-link`, {
    cookie,
  })
  expect(made.outcome).toBe('201')
  const reset_token = new URLSearchParams(new URL(made.json.reset_url).hash.slice(1)).get('token')
  const body = { reset_token, new_password: RESET_PASSWORD }
  const used = await withoutOidc.call('POST', '/v1/session/password-reset', { body })
  expect(used.outcome).toBe('200')
  return used.headers.getSetCookie()[0]?.split(';', 1)[0] as string
}

/** Returns what the password and the session of a reset are answered with. */
async function tryReset({ person }: Linked, cookie: string): Promise<string[]> {
  const body = { email: person.user.email, password: RESET_PASSWORD }
  const byPassword = await plane.call('POST', '/v1/session', { body })
  return [byPassword.outcome, (await plane.call('GET', '/v1/session', { cookie })).outcome]
}

describe('a password that was set by a reset link while OIDC was off', () => {
  test('and its session are valid until the person signs in by OIDC', async () => {
    const linked = await insertLinked()
    const cookie = await reset(linked)
    expect(await tryReset(linked, cookie)).toEqual(['201', '200'])
    const session = await browser.signIn(linked.claims)
    expect(session).toMatchObject({
      user: { id: linked.person.user.id },
      memberships: [{ role: 'developer' }],
    })
    expect(await tryReset(linked, cookie)).toEqual(['401 sign_in_failed', '401 unauthenticated'])
  })

  test.each([
    ['an unverified address', { email_verified: false }],
    ['another address', { email: 'moved@example.com' }],
  ])('ends too if the issuer reports %s', async (_, changed) => {
    const linked = await insertLinked()
    const cookie = await reset(linked)
    const session = await browser.signIn({ ...linked.claims, ...changed })
    expect(session).toMatchObject({ user: { id: linked.person.user.id } })
    expect(await tryReset(linked, cookie)).toEqual(['401 sign_in_failed', '401 unauthenticated'])
  })

  test('ends when the person signs in by the issuer that replaced the previous one', async () => {
    const linked = await insertLinked()
    const cookie = await reset(linked)
    const session = await other.browser.signIn({ ...linked.claims, sub: plane.newId() })
    expect(session).toMatchObject({ user: { id: linked.person.user.id } })
    expect(await tryReset(linked, cookie)).toEqual(['401 sign_in_failed', '401 unauthenticated'])
  })

  test('ends at the next sign-in by OIDC after a second reset', async () => {
    const linked = await insertLinked()
    for (let i = 0; i < 2; i++) {
      const cookie = await reset(linked)
      await browser.signIn(linked.claims)
      expect(await tryReset(linked, cookie)).toEqual(['401 sign_in_failed', '401 unauthenticated'])
    }
  })
})

test('a later sign-in by OIDC leaves the sessions of the person', async () => {
  const linked = await insertLinked()
  await reset(linked)
  const sessions = async () =>
    await plane.database.db
      .selectFrom('sessions')
      .select('id')
      .where('user_id', '=', linked.person.user.id)
      .execute()
  await browser.signIn(linked.claims)
  const first = await sessions()
  await browser.signIn(linked.claims)
  expect(await sessions()).toEqual(expect.arrayContaining(first))
})

test('an account that becomes part of another one after a reset can still be reached by its identity', async () => {
  const email = `${plane.newId()}@example.com`
  const older = await plane.insertPerson(email)
  plane.clock.advance(1)
  const person = await plane.insertPerson(email)
  const memberId = await plane.insertMember(tenant.organization.id, person, 'admin')
  const claims = { sub: plane.newId(), email, email_verified: true }
  await plane.database.db
    .insertInto('identities')
    .values({ issuer: issuer.url, subject: claims.sub, user_id: person.user.id, created_at: new Date(0) })
    .execute()
  await reset({ person, memberId, claims })
  const merged = await other.browser.signIn({ ...claims, sub: plane.newId() })
  expect(merged).toMatchObject({ user: { id: older.user.id }, memberships: [{ role: 'admin' }] })
  const session = (await browser.signIn(claims)) as OidcSession
  expect(session).toMatchObject({ user: { id: older.user.id }, memberships: [{ role: 'admin' }] })
})
