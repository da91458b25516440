import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  type ControlPlane,
  openControlPlane,
  PASSWORD,
  type Person,
  type Tenant,
} from '../../testing/harness/control-plane.ts'

interface Session {
  user: { id: string; email: string; name: string | null }
  memberships: { id: string; role: string; organization: { id: string; name: string; slug: string } }[]
}

const NEW_PASSWORD = 'another long password'
const DAY_MS = 24 * 3_600_000

let plane: ControlPlane
let tenant: Tenant
beforeAll(async () => {
  plane = await openControlPlane()
})
afterAll(() => plane.close())
beforeEach(async () => {
  // Sign-ins are limited per minute, and all tests of this file call from one address.
  plane.clock.advance(60_000)
  tenant = await plane.insertTenant('acme')
})

const signIn = (email: string, password: string = PASSWORD, headers: Record<string, string> = {}) =>
  plane.call<Session>('POST', '/v1/session', { body: { email, password }, headers })

/** Returns the cookie as a browser sends it back. */
function cookieOf(headers: Headers): string {
  return headers.getSetCookie()[0]?.split(';', 1)[0] ?? ''
}

async function newSession(person: Person): Promise<string> {
  return cookieOf((await signIn(person.user.email)).headers)
}

const outcomeOf = async (cookie: string) => (await plane.call('GET', '/v1/session', { cookie })).outcome

describe('POST /v1/session', () => {
  test('201 with the user and memberships; the cookie is accepted by the control plane', async () => {
    const { user } = tenant.people.admin
    const answer = await signIn(` ${user.email.toUpperCase()} `)
    expect(answer.status).toBe(201)
    expect(answer.json).toEqual({
      user: { id: user.id, email: user.email, name: null },
      memberships: [
        {
          id: expect.any(String),
          role: 'admin',
          organization: { id: tenant.organization.id, name: 'acme', slug: tenant.organization.slug },
        },
      ],
    })
    const cookie = cookieOf(answer.headers)
    expect((await plane.call('GET', '/v1/session', { cookie })).json).toEqual(answer.json)
    expect((await plane.call('GET', `/v1/orgs/${tenant.organization.id}`, { cookie })).outcome).toBe('200')
  })

  test('the cookie is HttpOnly, SameSite, for every path and has 256 random bits; the database stores its hash only', async () => {
    const { headers } = await signIn(tenant.people.viewer.user.email)
    const [cookie = ''] = headers.getSetCookie()
    expect(cookie).toMatch(/^rideau_session=[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/)
    const token = cookie.slice('rideau_session='.length).split(';', 1)[0] as string
    const rows = await plane.database.db.selectFrom('sessions').selectAll().execute()
    expect(JSON.stringify(rows)).not.toContain(token)
    expect(plane.logged()).not.toContain(token)
  })

  test('401 sign_in_failed: the same response for a wrong password, an unknown address and an account without a password', async () => {
    const withoutPassword = await plane.insertPerson()
    await plane.database.db
      .updateTable('users')
      .set({ password_hash: null })
      .where('id', '=', withoutPassword.user.id)
      .execute()
    const answers = [
      await signIn(tenant.people.owner.user.email, 'wrong'),
      await signIn('nobody@example.com', PASSWORD),
      await signIn(withoutPassword.user.email, PASSWORD),
    ]
    for (const { outcome, json, headers } of answers) {
      expect(outcome).toBe('401 sign_in_failed')
      expect({ ...(json as { error?: object }).error, request_id: '' }).toEqual({
        ...(answers[0]?.json as { error?: object }).error,
        request_id: '',
      })
      expect(headers.getSetCookie()).toEqual([])
    }
  })

  test('replaces the session of the browser', async () => {
    const person = await plane.insertPerson()
    const { headers } = await signIn(person.user.email, PASSWORD, { cookie: person.cookie })
    expect(await outcomeOf(person.cookie)).toBe('401 unauthenticated')
    expect(await outcomeOf(cookieOf(headers))).toBe('200')
  })

  test('403 csrf_failed for another site, so that it cannot sign a browser in to another account', async () => {
    const { outcome } = await signIn(tenant.people.owner.user.email, PASSWORD, {
      origin: 'https://evil.example',
    })
    expect(outcome).toBe('403 csrf_failed Origin')
    const own = await signIn(tenant.people.owner.user.email, PASSWORD, { origin: plane.url })
    expect(own.outcome).toBe('201')
  })

  test.each([
    [{ email: 'a@b.example' }, 'password'],
    [{ email: 'nobody', password: PASSWORD }, 'email'],
    [{ email: 'a@b.example', password: 'x'.repeat(1025) }, 'password'],
    [{ email: 'a@b.example', password: PASSWORD, remember: true }, 'remember'],
  ])('400 invalid_request: %j', async (body, param) => {
    expect((await plane.call('POST', '/v1/session', { body })).outcome).toBe(`400 invalid_request ${param}`)
  })
})

describe('a session', () => {
  test('ends after a week without use; each use extends it', async () => {
    const { cookie } = await plane.insertPerson()
    plane.clock.advance(7 * DAY_MS - 1)
    expect(await outcomeOf(cookie)).toBe('200')
    plane.clock.advance(7 * DAY_MS - 1)
    expect(await outcomeOf(cookie)).toBe('200')
    plane.clock.advance(7 * DAY_MS)
    expect(await outcomeOf(cookie)).toBe('401 unauthenticated')
  })

  test('ends after thirty days even if it is used', async () => {
    const { cookie } = await plane.insertPerson()
    for (let day = 0; day < 29; day++) {
      plane.clock.advance(DAY_MS)
      expect(await outcomeOf(cookie)).toBe('200')
    }
    plane.clock.advance(DAY_MS)
    expect(await outcomeOf(cookie)).toBe('401 unauthenticated')
  })

  test.each([
    ['no cookie', undefined],
    ['an empty cookie', 'rideau_session='],
    ['an unknown token', `rideau_session=${'A'.repeat(43)}`],
    ['a malformed token', 'rideau_session=%ff%00'],
    ['the name of the https cookie', `__Host-rideau_session=${'A'.repeat(43)}`],
  ])('401 unauthenticated: %s', async (_, cookie) => {
    const { outcome } = await plane.call('GET', '/v1/orgs', { cookie })
    expect(outcome).toBe('401 unauthenticated')
  })

  test('a Bearer token takes precedence over a cookie and needs no CSRF header', async () => {
    const { cookie } = tenant.people.owner
    const path = `/v1/projects/${tenant.project.id}`
    const by = (authorization: string) =>
      plane.call('PATCH', path, { body: {}, headers: { cookie, authorization } })
    expect((await by(`Bearer ${tenant.keys.admin}`)).outcome).toBe('200')
    expect((await by(`Bearer ${tenant.keys.viewer}`)).outcome).toBe('403 insufficient_role')
    expect((await by('Bearer nonsense')).outcome).toBe('401 invalid_key')
  })

  test('a user without an organization sees no organization', async () => {
    const { cookie } = await plane.insertPerson()
    const get = async (path: string) => await plane.call('GET', path, { cookie })
    expect((await get('/v1/orgs')).json).toEqual({ data: [], has_more: false, next_cursor: null })
    expect((await get(`/v1/orgs/${tenant.organization.id}`)).outcome).toBe('404 resource_not_found')
    expect((await get(`/v1/logs/${plane.newId()}`)).outcome).toBe('404 resource_not_found')
    expect((await get('/v1/catalog/models')).outcome).toBe('200')
  })
})

describe('a call by cookie', () => {
  test.each<[string, Record<string, string>, string]>([
    ['nothing', {}, '403 csrf_failed X-Rideau-CSRF'],
    ['the header alone', { 'x-rideau-csrf': '1' }, '403 csrf_failed Origin'],
    ['another value', { 'x-rideau-csrf': 'true', origin: 'OWN' }, '403 csrf_failed X-Rideau-CSRF'],
    ['the origin alone', { origin: 'OWN' }, '403 csrf_failed X-Rideau-CSRF'],
    ['another origin', { 'x-rideau-csrf': '1', origin: 'https://evil.example' }, '403 csrf_failed Origin'],
    ['an opaque origin', { 'x-rideau-csrf': '1', origin: 'null' }, '403 csrf_failed Origin'],
    ['another port', { 'x-rideau-csrf': '1', origin: 'http://127.0.0.1:1' }, '403 csrf_failed Origin'],
    ['another scheme', { 'x-rideau-csrf': '1', origin: 'https://OWNHOST' }, '403 csrf_failed Origin'],
    ['both', { 'x-rideau-csrf': '1', origin: 'OWN' }, '200'],
  ])('is checked if it writes, with %s', async (_, sent, outcome) => {
    const headers: Record<string, string> = { ...sent, cookie: tenant.people.owner.cookie }
    if (headers.origin !== undefined) {
      headers.origin = headers.origin.replace('OWNHOST', `127.0.0.1:${plane.port}`).replace('OWN', plane.url)
    }
    const answer = await plane.call('PATCH', `/v1/projects/${tenant.project.id}`, { body: {}, headers })
    expect(answer.outcome).toBe(outcome)
  })

  test('needs neither header if it only reads', async () => {
    const headers = { cookie: tenant.people.owner.cookie, origin: 'https://evil.example' }
    expect((await plane.call('GET', '/v1/session', { headers })).outcome).toBe('200')
  })

  test("accepts the base URL and the listener's URL as its own origin", async () => {
    const behind = await openControlPlane({ baseUrl: () => 'https://rideau.example/' })
    try {
      const { user } = await behind.insertPerson()
      const body = { email: user.email, password: PASSWORD }
      const { headers } = await behind.call('POST', '/v1/session', { body })
      const [set = ''] = headers.getSetCookie()
      expect(set).toMatch(/^__Host-rideau_session=.*; Path=\/; HttpOnly; Secure; SameSite=Lax$/)
      const from = (origin: string) =>
        behind.call('POST', '/v1/orgs', {
          headers: { cookie: set.split(';', 1)[0] as string, origin, 'x-rideau-csrf': '1' },
          body: { name: 'x' },
        })
      expect((await from('https://rideau.example')).outcome).toBe('201')
      expect((await from(behind.url)).outcome).toBe('201')
      expect((await from('https://rideau.example.evil.example')).outcome).toBe('403 csrf_failed Origin')
      expect((await from('http://rideau.example')).outcome).toBe('403 csrf_failed Origin')
    } finally {
      await behind.close()
    }
  })
})

describe('DELETE /v1/session', () => {
  test('204: ends this session, deletes the cookie and leaves other sessions unchanged', async () => {
    const person = await plane.insertPerson()
    const other = await newSession(person)
    const answer = await plane.call('DELETE', '/v1/session', { cookie: person.cookie })
    expect([answer.outcome, answer.text]).toEqual(['204', ''])
    expect(answer.headers.getSetCookie()[0]).toMatch(/^rideau_session=; Max-Age=0; Path=\//)
    expect(await outcomeOf(person.cookie)).toBe('401 unauthenticated')
    expect(await outcomeOf(other)).toBe('200')
  })

  test('everywhere=true ends all sessions of this user and of no other', async () => {
    const person = await plane.insertPerson()
    const other = await newSession(person)
    const path = '/v1/session?everywhere=true'
    expect((await plane.call('DELETE', path, { cookie: other })).outcome).toBe('204')
    expect(await outcomeOf(person.cookie)).toBe('401 unauthenticated')
    expect(await outcomeOf(other)).toBe('401 unauthenticated')
    expect(await outcomeOf(tenant.people.owner.cookie)).toBe('200')
  })
})

describe('what ends the own session of a member', () => {
  test.each([
    ['DELETE', '/v1/session', undefined, '204', 'session.delete'],
    ['DELETE', '/v1/session?everywhere=true', undefined, '204', 'session.delete'],
    [
      'POST',
      '/v1/session/password',
      { current_password: PASSWORD, new_password: NEW_PASSWORD },
      '200',
      'session.change_password',
    ],
  ] as const)('%s %s is answered and audited', async (method, path, body, outcome, operation) => {
    const { people, organization } = await plane.insertTenant('own session')
    const { cookie, user } = people.developer
    const answer = await plane.call(method, path, body === undefined ? { cookie } : { cookie, body })
    expect(answer.outcome).toBe(outcome)
    expect(await outcomeOf(cookie)).toBe('401 unauthenticated')
    const audited = await plane.database.pool.query(
      'select 1 from audit_log where org_id = $1 and operation = $2 and actor_id = $3',
      [organization.id, operation, user.id],
    )
    expect(audited.rows).toHaveLength(1)
    // Again it is over before it begins.
    const again = await plane.call(method, path, body === undefined ? { cookie } : { cookie, body })
    expect(again.outcome).toBe('401 unauthenticated')
  })
})

describe('POST /v1/session/password', () => {
  const change = (cookie: string, current_password: string, new_password = NEW_PASSWORD) =>
    plane.call('POST', '/v1/session/password', { cookie, body: { current_password, new_password } })

  test('200: ends every session, starts a new one for the caller, and only the new password signs in', async () => {
    const person = await plane.insertPerson()
    const other = await newSession(person)
    const changed = await change(person.cookie, PASSWORD)
    expect(changed.outcome).toBe('200')
    expect(await outcomeOf(person.cookie)).toBe('401 unauthenticated')
    expect(await outcomeOf(other)).toBe('401 unauthenticated')
    expect(await outcomeOf(cookieOf(changed.headers))).toBe('200')
    expect((await signIn(person.user.email, PASSWORD)).outcome).toBe('401 sign_in_failed')
    expect((await signIn(person.user.email, NEW_PASSWORD)).outcome).toBe('201')
  })

  test('401 sign_in_failed: a wrong current password changes nothing', async () => {
    const person = await plane.insertPerson()
    expect((await change(person.cookie, 'wrong')).outcome).toBe('401 sign_in_failed current_password')
    expect(await outcomeOf(person.cookie)).toBe('200')
    expect((await signIn(person.user.email)).outcome).toBe('201')
  })

  test('400 invalid_request for a short new password', async () => {
    const { cookie } = await plane.insertPerson()
    expect((await change(cookie, PASSWORD, 'short')).outcome).toBe('400 invalid_request new_password')
  })

  test('one of two concurrent changes succeeds, and its password signs in', async () => {
    const person = await plane.insertPerson()
    const other = await newSession(person)
    const [a, b] = await Promise.all([
      change(person.cookie, PASSWORD, 'the first password'),
      change(other, PASSWORD, 'the second password'),
    ])
    expect([a.status, b.status].sort()).toEqual([200, 401])
    const [winner, loser] =
      a.status === 200
        ? ['the first password', 'the second password']
        : ['the second password', 'the first password']
    expect((await signIn(person.user.email, winner)).outcome).toBe('201')
    expect((await signIn(person.user.email, loser)).outcome).toBe('401 sign_in_failed')
  })
})
