import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { lockOrganizations } from '../../../storage/tenancy/organizations.ts'
import {
  OIDC_CLIENT,
  openScriptedIssuer,
  type ScriptedIssuer,
} from '../../../testing/fakes/scripted-issuer.ts'
import {
  type ControlPlane,
  openControlPlane,
  PASSWORD,
  type Tenant,
} from '../../../testing/harness/control-plane.ts'
import { untilLockWait } from '../../../testing/harness/lock-wait.ts'
import {
  getPage as get,
  type OidcBrowser,
  openOidcBrowser,
  type OidcSession as Session,
} from '../../../testing/harness/oidc-browser.ts'

let issuer: ScriptedIssuer
let plane: ControlPlane
let tenant: Tenant
let browser: OidcBrowser
beforeAll(async () => {
  issuer = await openScriptedIssuer()
  const oidc = { issuer: issuer.url, ...OIDC_CLIENT, allowInsecure: true }
  plane = await openControlPlane({ oidc })
  browser = openOidcBrowser(plane, issuer)
  tenant = await plane.insertTenant('acme')
})
afterAll(async () => {
  await plane.close()
  await issuer.close()
})
beforeEach(() => plane.clock.advance(60_000))

const invite = async (email: string, of = tenant) =>
  await plane.call('POST', `/v1/orgs/${of.organization.id}/members`, {
    key: of.keys.admin,
    body: { email, role: 'developer' },
  })
const newEmail = () => `${plane.newId()}@example.com`

describe('sign-in by OIDC', () => {
  test('requests a code with PKCE, state and nonce, and seals its own state in the cookie', async () => {
    const start = await get(`${plane.url}/v1/session/oidc/start`)
    const { searchParams } = new URL(start.headers.get('location') as string)
    expect(Object.fromEntries(searchParams)).toMatchObject({
      response_type: 'code',
      redirect_uri: `${plane.url}/v1/session/oidc/callback`,
      code_challenge_method: 'S256',
    })
    const [cookie = ''] = start.headers.getSetCookie()
    expect(cookie).toMatch(/; Max-Age=600; Path=\/v1\/session\/oidc; HttpOnly; SameSite=Lax$/)
    const bytes = Buffer.from(cookie.split(';', 1)[0]?.split('=')[1] ?? '', 'base64url').toString('latin1')
    expect(bytes).not.toContain(searchParams.get('state'))
  })

  test('links a verified address to its account, and identifies the person by its subject afterwards', async () => {
    const person = await plane.insertPerson(newEmail())
    await plane.insertMember(tenant.organization.id, person, 'admin')
    const sub = plane.newId()
    const session = await browser.signIn({
      sub,
      email: person.user.email.toUpperCase(),
      email_verified: true,
    })
    expect(session).toMatchObject({ user: { id: person.user.id }, memberships: [{ role: 'admin' }] })
    const later = await browser.signIn({ sub, email: 'moved@example.com', email_verified: false })
    expect(later).toMatchObject({ user: { id: person.user.id, email: person.user.email } })
  })

  test('a person who proves an address takes its account over from a creator without proof', async () => {
    const squatted = await plane.insertPerson(newEmail())
    await browser.signIn({ sub: plane.newId(), email: squatted.user.email, email_verified: true })
    const { outcome } = await plane.call('GET', '/v1/session', { cookie: squatted.cookie })
    expect(outcome).toBe('401 unauthenticated')
    const body = { email: squatted.user.email, password: PASSWORD }
    expect((await plane.call('POST', '/v1/session', { body })).outcome).toBe('401 sign_in_failed')
  })

  test('a person who proves an address gets the memberships of all its accounts, and no other account keeps them', async () => {
    const email = newEmail()
    const other = await plane.insertTenant('other')
    const accounts = [await plane.insertPerson(email), await plane.insertPerson(email)] as const
    await plane.insertMember(tenant.organization.id, accounts[0], 'developer')
    await plane.insertMember(other.organization.id, accounts[1], 'viewer')
    const session = (await browser.signIn({ sub: plane.newId(), email, email_verified: true })) as Session
    expect(session.memberships.map(({ role }) => role).sort()).toEqual(['developer', 'viewer'])
    for (const { cookie } of accounts) {
      expect((await plane.call('GET', '/v1/session', { cookie })).outcome).toBe('401 unauthenticated')
    }
    const body = { email, password: PASSWORD }
    expect((await plane.call('POST', '/v1/session', { body })).outcome).toBe('401 sign_in_failed')
  })

  test('a person with an account joins all organizations whose invitations of the proven address still wait, none twice', async () => {
    const email = newEmail()
    const joined = await plane.insertTenant('joined')
    const late = await plane.insertTenant('late')
    const other = await plane.insertTenant('other')
    for (const each of [joined, late, other]) await invite(email, each)
    await plane.database.db
      .updateTable('members')
      .set({ invite_expires_at: new Date(0) })
      .where('org_id', '=', late.organization.id)
      .where('invite_email', '=', email)
      .execute()
    await plane.insertMember(joined.organization.id, await plane.insertPerson(email), 'viewer')
    const session = (await browser.signIn({ sub: plane.newId(), email, email_verified: true })) as Session
    const roles = session.memberships.map(({ role, organization }) => `${organization.id} ${role}`)
    expect(roles.sort()).toEqual(
      [`${joined.organization.id} viewer`, `${other.organization.id} developer`].sort(),
    )
  })

  test('is not touched by an account that an invitation makes for the address afterwards', async () => {
    const email = newEmail()
    const person = await plane.insertPerson(email)
    await plane.insertMember(tenant.organization.id, person, 'admin')
    const sub = plane.newId()
    await browser.signIn({ sub, email, email_verified: true })
    const other = await plane.insertTenant('other')
    const invited = (await invite(email, other)) as { json: { accept_url: string } }
    const token = invited.json.accept_url.split('token=')[1]
    const accepted = await plane.call('POST', '/v1/invitations/accept', {
      body: { token, password: PASSWORD },
    })
    expect(accepted.outcome).toBe('200')
    const roles = async (session: Session) => session.memberships.map(({ role }) => role)
    expect(await roles((await browser.signIn({ sub, email, email_verified: true })) as Session)).toEqual([
      'admin',
    ])
    const byPassword = await plane.call<Session>('POST', '/v1/session', {
      body: { email, password: PASSWORD },
    })
    expect(await roles(byPassword.json)).toEqual(['developer'])
  })

  test('an account whose address the operator proved keeps its password', async () => {
    const owner = await plane.insertPerson(newEmail())
    await plane.database.db
      .updateTable('users')
      .set({ email_proven: true })
      .where('id', '=', owner.user.id)
      .execute()
    await browser.signIn({ sub: plane.newId(), email: owner.user.email, email_verified: true })
    const body = { email: owner.user.email, password: PASSWORD }
    expect((await plane.call('POST', '/v1/session', { body })).outcome).toBe('201')
  })

  test('creates the account of an invited person, whose password no owner can set', async () => {
    const email = newEmail()
    await invite(email)
    const session = await browser.signIn({ sub: plane.newId(), email, email_verified: 'true', name: 'Grace' })
    expect(session).toMatchObject({
      user: { email, name: 'Grace' },
      memberships: [{ role: 'developer', organization: { id: tenant.organization.id } }],
    })
    const { cookie } = tenant.people.owner
    const { user } = session as Session
    const members = `/v1/orgs/${tenant.organization.id}/members?limit=100`
    const list = await plane.call<{ data: { id: string; user: { id: string } | null }[] }>('GET', members, {
      cookie,
    })
    const member = list.json.data.find(one => one.user?.id === user.id)?.id
    const reset = await plane.call('POST', `/v1/members/${member}/reset-link`, { cookie })
    expect(reset.outcome).toBe('403 insufficient_role')
  })

  test('two concurrent first sign-ins reach one account', async () => {
    const email = newEmail()
    await invite(email)
    issuer.claims = { sub: plane.newId(), email, email_verified: true }
    const [a, b] = [await browser.begin(), await browser.begin()]
    const sessions = await Promise.all([browser.finish(a.back, a.pending), browser.finish(b.back, b.pending)])
    const ids = sessions.map(session => (session as Session).user.id)
    expect(ids[0]).toBe(ids[1])
  })

  test('two people whom two organizations invited in opposite orders sign in at once', async () => {
    const other = await plane.insertTenant('other')
    const emails = [newEmail(), newEmail()] as const
    for (const [email, of] of [
      [emails[0], tenant],
      [emails[1], other],
      [emails[0], other],
      [emails[1], tenant],
    ] as const) {
      plane.clock.advance(1)
      await invite(email, of)
    }
    const { db, pool } = plane.database
    const ids = [tenant.organization.id, other.organization.id]
    const signingIn: Promise<Session | string>[] = []
    await db.transaction().execute(async tx => {
      await lockOrganizations(tx, ids)
      for (const email of emails) {
        issuer.claims = { sub: plane.newId(), email, email_verified: true }
        const { back, pending } = await browser.begin()
        signingIn.push(browser.finish(back, pending))
        await untilLockWait(pool, signingIn.length)
      }
    })
    for (const session of await Promise.all(signingIn)) {
      expect((session as Session).memberships.map(({ organization }) => organization.id).sort()).toEqual(ids)
    }
  })

  test('401 sign_in_failed for an unknown person, an unverified address and an expired invitation', async () => {
    const email = newEmail()
    expect(await browser.signIn({ sub: 'x', email, email_verified: true })).toBe('401 sign_in_failed')
    await invite(email)
    for (const email_verified of [false, undefined, 'false', 1]) {
      expect(await browser.signIn({ sub: 'x', email, email_verified })).toBe('401 sign_in_failed')
    }
    plane.clock.advance(7 * 24 * 3_600_000)
    expect(await browser.signIn({ sub: 'x', email, email_verified: true })).toBe('401 sign_in_failed')
  })

  test.each([
    ['another nonce', { nonce: 'of another sign-in' }],
    ['another audience', { aud: 'another client' }],
  ])('401 sign_in_failed: a token for %s', async (_, wrong) => {
    const { user } = await plane.insertPerson(newEmail())
    const claims = { sub: plane.newId(), email: user.email, email_verified: true, ...wrong }
    expect(await browser.signIn(claims)).toBe('401 sign_in_failed')
  })

  test('401 sign_in_failed for a callback of another browser, an altered one and a late one, without a call to the issuer', async () => {
    const { back, pending } = await browser.begin()
    const other = await browser.begin()
    const before = issuer.exchanges()
    expect(await browser.finish(back)).toBe('401 sign_in_failed')
    expect(await browser.finish(back, other.pending)).toBe('401 sign_in_failed')
    expect(await browser.finish(back, `${pending.slice(0, -4)}AAAA`)).toBe('401 sign_in_failed')
    expect(await browser.finish(`${plane.url}/v1/session/oidc/callback?error=access_denied`, pending)).toBe(
      '401 sign_in_failed',
    )
    plane.clock.advance(600_000)
    expect(await browser.finish(back, pending)).toBe('401 sign_in_failed')
    expect(issuer.exchanges()).toBe(before)
  })
})

test('404 route_not_found if it is not configured', async () => {
  const without = await openControlPlane()
  try {
    for (const path of ['/v1/session/oidc/start', '/v1/session/oidc/callback']) {
      expect((await without.call('GET', path)).outcome).toBe('404 route_not_found')
    }
  } finally {
    await without.close()
  }
})

test('401 sign_in_failed if the issuer cannot be reached; the next sign-in tries again', async () => {
  const gone = await openScriptedIssuer()
  await gone.close()
  const oidc = { issuer: gone.url, ...OIDC_CLIENT, allowInsecure: true }
  const cut = await openControlPlane({ oidc })
  try {
    for (let i = 0; i < 2; i++) {
      expect((await cut.call('GET', '/v1/session/oidc/start')).outcome).toBe('401 sign_in_failed')
    }
    expect(cut.logged()).not.toContain(OIDC_CLIENT.clientSecret)
  } finally {
    await cut.close()
  }
})

test('refuses an unknown query parameter at the start, but none that the issuer adds at the end', async () => {
  const start = await get(`${plane.url}/v1/session/oidc/start?colour=red`)
  const { error } = (await start.json()) as { error: { code: string; param: string } }
  expect([start.status, error.code, error.param]).toEqual([400, 'request_validation_failed', 'colour'])
  const person = await plane.insertPerson(newEmail())
  await plane.insertMember(tenant.organization.id, person, 'viewer')
  issuer.claims = { sub: plane.newId(), email: person.user.email, email_verified: true }
  const { pending, back } = await browser.begin()
  expect(await browser.finish(`${back}&session_state=1`, pending)).toMatchObject({
    user: { id: person.user.id },
  })
})

test('under https the cookie of a sign-in has the prefix __Host-, so that no sibling host can set it', async () => {
  const oidc = { issuer: issuer.url, ...OIDC_CLIENT, allowInsecure: true }
  const secure = await openControlPlane({ oidc, baseUrl: () => 'https://rideau.example' })
  try {
    const start = await get(`${secure.url}/v1/session/oidc/start`)
    const [cookie = ''] = start.headers.getSetCookie()
    const [pair = '', ...attributes] = cookie.split('; ')
    expect(attributes).toEqual(expect.arrayContaining(['Path=/', 'HttpOnly', 'Secure']))
    expect(cookie).not.toContain('Domain')
    const state = new URL(start.headers.get('location') ?? '').searchParams.get('state')
    const callback = `${secure.url}/v1/session/oidc/callback?code=unknown&state=${state}`
    const message = async (sent: string) => await (await get(callback, sent)).text()
    expect(pair).toMatch(/^__Host-rideau_oidc=./)
    expect(await message(pair)).toContain('could not be completed')
    expect(await message(pair.replace('__Host-', ''))).toContain('started in another browser')
  } finally {
    await secure.close()
  }
})
