import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  type ControlPlane,
  openControlPlane,
  PASSWORD,
  SETUP_TOKEN,
  type Tenant,
} from '../../testing/harness/control-plane.ts'
import { findUserByHash } from '../session/address-password.ts'

/**
 * Two organizations invite one address. `evil` accepts its own link in the victim's place, or looks for accounts of
 * others by answers and times; `acme` passes its link on to the person it means.
 */
const EVIL_PASSWORD = 'the password of the attacker'
const OWN_PASSWORD = 'the password of the victim'

interface Member {
  id: string
  user: { id: string; email: string; name: string | null } | null
}
interface Session {
  user: { id: string }
  memberships: { organization: { id: string } }[]
}

let plane: ControlPlane
let acme: Tenant
let evil: Tenant
let email: string
beforeAll(async () => {
  plane = await openControlPlane()
})
afterAll(() => plane.close())
beforeEach(async () => {
  // Attempts are limited per minute, and all tests of this file call from one address.
  plane.clock.advance(60_000)
  acme = await plane.insertTenant('acme')
  evil = await plane.insertTenant('evil')
  email = `${plane.newId()}@example.com`
})

const membersOf = (tenant: Tenant) => `/v1/orgs/${tenant.organization.id}/members`
const inviteBy = (tenant: Tenant, address = email) =>
  plane.call<Member & { accept_url: string }>('POST', membersOf(tenant), {
    cookie: tenant.people.owner.cookie,
    body: { email: address, role: 'developer' },
  })
const linkOf = async (tenant: Tenant, address = email) =>
  (await inviteBy(tenant, address)).json.accept_url.split('token=')[1] as string
const accept = (token: string, password?: string, options: { cookie?: string } = {}) =>
  plane.call<Member>('POST', '/v1/invitations/accept', { ...options, body: { token, password } })
const signIn = (password: string, address = email) =>
  plane.call<Session>('POST', '/v1/session', { body: { email: address, password } })
const cookieOf = (headers: Headers) => headers.getSetCookie()[0]?.split(';', 1)[0] as string
/** The organizations that the password of the address opens, sorted. */
const opens = async (password: string) =>
  (await signIn(password)).json.memberships?.map(({ organization }) => organization.id).sort() ?? 'nothing'
const idOf = (tenant: Tenant) => tenant.organization.id

describe("an account that another organization's owner made for the address", () => {
  beforeEach(async () => {
    await accept(await linkOf(evil), EVIL_PASSWORD)
  })

  test('does not close an invitation to its person, and its password does not open the new membership', async () => {
    const joined = await accept(await linkOf(acme), OWN_PASSWORD)
    expect(joined.outcome).toBe('200')
    expect(joined.json).toMatchObject({ user: { email, name: null } })
    expect(await opens(OWN_PASSWORD)).toEqual([idOf(acme)])
    expect(await opens(EVIL_PASSWORD)).toEqual([idOf(evil)])
  })

  test('sees the new membership neither in a session of before nor by a reset link', async () => {
    const { headers } = await signIn(EVIL_PASSWORD)
    const theirs = await plane.call<{ data: Member[] }>('GET', `${membersOf(evil)}?limit=100`, {
      cookie: evil.people.owner.cookie,
    })
    const member = theirs.json.data.find(({ user }) => user?.email === email)?.id
    const reset = await plane.call<{ reset_url: string }>('POST', `/v1/members/${member}/reset-link`, {
      cookie: evil.people.owner.cookie,
    })
    expect(reset.outcome).toBe('201')
    await accept(await linkOf(acme), OWN_PASSWORD)
    const before = await plane.call<Session>('GET', '/v1/session', { cookie: cookieOf(headers) })
    expect(before.json.memberships.map(({ organization }) => organization.id)).toEqual([idOf(evil)])
    const body = { reset_token: reset.json.reset_url.split('token=')[1], new_password: PASSWORD }
    const used = await plane.call<Session>('POST', '/v1/session/password-reset', { body })
    expect(used.json.memberships.map(({ organization }) => organization.id)).toEqual([idOf(evil)])
    expect(await opens(OWN_PASSWORD)).toEqual([idOf(acme)])
  })

  test('cannot take the password of the other account, neither by a change nor by a reset', async () => {
    await accept(await linkOf(acme), OWN_PASSWORD)
    const cookie = cookieOf((await signIn(EVIL_PASSWORD)).headers)
    const body = { current_password: EVIL_PASSWORD, new_password: OWN_PASSWORD }
    const changed = await plane.call('POST', '/v1/session/password', { cookie, body })
    expect(changed.outcome).toBe('400 invalid_request new_password')
    expect([await opens(OWN_PASSWORD), await opens(EVIL_PASSWORD)]).toEqual([[idOf(acme)], [idOf(evil)]])
  })

  test('stays as it was if its address is proven', async () => {
    await plane.database.db
      .updateTable('users')
      .set({ email_proven: true })
      .where('email', '=', email)
      .execute()
    expect((await accept(await linkOf(acme), OWN_PASSWORD)).outcome).toBe('200')
    expect([await opens(OWN_PASSWORD), await opens(EVIL_PASSWORD)]).toEqual([[idOf(acme)], [idOf(evil)]])
  })
})

describe('a person who accepted the invitation of one organization', () => {
  test('joins another one with the same password, and has one account with both', async () => {
    await accept(await linkOf(acme), OWN_PASSWORD)
    expect((await accept(await linkOf(evil), OWN_PASSWORD)).outcome).toBe('200')
    expect(await opens(OWN_PASSWORD)).toEqual([idOf(acme), idOf(evil)].sort())
  })

  test('ends all sessions of the account when it joins another one by its password', async () => {
    await accept(await linkOf(evil), OWN_PASSWORD)
    const cookie = cookieOf((await signIn(OWN_PASSWORD)).headers)
    const isSignedIn = async () => (await plane.call('GET', '/v1/session', { cookie })).status
    expect(await isSignedIn()).toBe(200)
    expect((await accept(await linkOf(acme), OWN_PASSWORD)).status).toBe(200)
    expect(await isSignedIn()).toBe(401)
    expect(await opens(OWN_PASSWORD)).toEqual([idOf(acme), idOf(evil)].sort())
  })

  test('joins another one with a session, without a password', async () => {
    await accept(await linkOf(acme), OWN_PASSWORD)
    const cookie = cookieOf((await signIn(OWN_PASSWORD)).headers)
    expect((await accept(await linkOf(evil), undefined, { cookie })).outcome).toBe('200')
    expect(await opens(OWN_PASSWORD)).toEqual([idOf(acme), idOf(evil)].sort())
  })

  test('loses nothing to an inviter who uses the link of the other organization', async () => {
    await accept(await linkOf(acme), OWN_PASSWORD)
    const cookie = cookieOf((await signIn(OWN_PASSWORD)).headers)
    const used = await accept(await linkOf(evil), EVIL_PASSWORD)
    expect(used.outcome).toBe('200')
    const reset = await plane.call('POST', `/v1/members/${used.json.id}/reset-link`, {
      cookie: evil.people.owner.cookie,
    })
    expect(reset.outcome).toBe('201')
    expect(await opens(EVIL_PASSWORD)).toEqual([idOf(evil)])
    expect(await opens(OWN_PASSWORD)).toEqual([idOf(acme)])
    expect((await plane.call('GET', membersOf(acme), { cookie })).outcome).toBe('200')
  })
})

describe('the answers do not tell whether the address has an account', () => {
  /** An answer without what is random in it. */
  const shapeOf = ({ status, text, headers }: { status: number; text: string; headers: Headers }) => ({
    status,
    text: text.replace(/[0-9a-f-]{36}|[\w-]{43}|req_\w+|\d{4}-\d\d-\d\dT[\d:.]+Z/g, '*'),
    headers: [...headers.keys()].filter(name => name !== 'date').sort(),
  })
  let known: string
  beforeEach(async () => {
    known = (await plane.insertPerson()).user.email
  })

  test('for an invitation and its acceptance', async () => {
    const invited = [await inviteBy(evil, known), await inviteBy(evil)]
    expect(shapeOf(invited[0] as never)).toEqual(shapeOf(invited[1] as never))
    const tokens = invited.map(({ json }) => json.accept_url.split('token=')[1] as string)
    for (const password of [undefined, 'short']) {
      const refused = await Promise.all(tokens.map(token => accept(token, password)))
      expect(shapeOf(refused[0] as never)).toEqual(shapeOf(refused[1] as never))
    }
    const accepted = await Promise.all(tokens.map(token => accept(token, EVIL_PASSWORD)))
    expect(shapeOf(accepted[0] as never)).toEqual(shapeOf(accepted[1] as never))
    // A version 7 UUID would tell since when the account exists.
    expect(accepted.map(({ json }) => json.user?.id.charAt(14))).toEqual(['4', '4'])
  })

  test('for a sign-in', async () => {
    const [a, b] = [await signIn(EVIL_PASSWORD, known), await signIn(EVIL_PASSWORD)]
    expect([a.outcome, b.outcome]).toEqual(Array(2).fill('401 sign_in_failed'))
    expect(shapeOf(a)).toEqual(shapeOf(b))
  })

  test('for a set-up, with the right token or a wrong one', async () => {
    const body = { email: known, password: EVIL_PASSWORD, organization: { name: 'x' } }
    const tries = [SETUP_TOKEN, 'wrong'].flatMap(setup_token =>
      [known, email].map(address =>
        plane.call('POST', '/v1/setup', { body: { ...body, setup_token, email: address } }),
      ),
    )
    const [first, ...rest] = (await Promise.all(tries)).map(shapeOf)
    expect(first?.status).toBe(403)
    for (const each of rest) expect(each).toEqual(first)
  })

  test('for too many passwords: they are counted for each address alike', async () => {
    for (const address of [known, email]) {
      plane.clock.advance(60_000)
      const token = await linkOf(evil, address)
      for (let i = 0; i < 10; i++)
        await plane.call('POST', '/v1/session', { body: { email: address, password: 'x' } })
      expect((await accept(token, EVIL_PASSWORD)).outcome).toBe('429 control_rate_limit_exceeded')
    }
  })

  test('for passwords: each is hashed once, whether the address has no account, one or several', async () => {
    await accept(await linkOf(evil), EVIL_PASSWORD)
    await accept(await linkOf(acme), OWN_PASSWORD)
    const hashes = await plane.database.db
      .selectFrom('users')
      .select('password_hash')
      .where('email', '=', email)
      .execute()
    const settings = hashes.map(({ password_hash }) => password_hash?.replace(/[^$]*$/, ''))
    expect(settings).toHaveLength(2)
    expect(new Set(settings).size).toBe(1)
    expect(settings[0]).toMatch(/^\$scrypt\$ln=17,r=8,p=1\$[\w+/]{22}\$$/)
  })
})

describe('at once', () => {
  test('two accept one link with passwords of their own: one joins, and no account of the other is left', async () => {
    const token = await linkOf(acme)
    const answers = await Promise.all([accept(token, OWN_PASSWORD), accept(token, EVIL_PASSWORD)])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404])
    const found = [await opens(OWN_PASSWORD), await opens(EVIL_PASSWORD)]
    expect(found).toContainEqual([idOf(acme)])
    expect(found).toContain('nothing')
  })

  test('one person accepts two links with one password: one account has both memberships', async () => {
    const links = [await linkOf(acme), await linkOf(evil)]
    const answers = await Promise.all(links.map(token => accept(token, OWN_PASSWORD)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    expect(answers[0]?.json.user?.id).toBe(answers[1]?.json.user?.id)
    expect(await opens(OWN_PASSWORD)).toEqual([idOf(acme), idOf(evil)].sort())
  })

  test('two accept two links with passwords of their own: each gets its organization, under one salt', async () => {
    const links = [await linkOf(acme), await linkOf(evil)] as const
    await Promise.all([accept(links[0], OWN_PASSWORD), accept(links[1], EVIL_PASSWORD)])
    expect([await opens(OWN_PASSWORD), await opens(EVIL_PASSWORD)]).toEqual([[idOf(acme)], [idOf(evil)]])
  })

  test('an invitation is accepted and withdrawn: a membership exists only if the acceptance came first', async () => {
    for (let round = 0; round < 3; round++) {
      plane.clock.advance(60_000)
      email = `${plane.newId()}@example.com`
      const { json } = await inviteBy(acme)
      const { cookie } = acme.people.owner
      const [accepted, removed] = await Promise.all([
        accept(json.accept_url.split('token=')[1] as string, OWN_PASSWORD),
        plane.call('DELETE', `/v1/members/${json.id}`, { cookie }),
      ])
      expect([200, 404]).toContain(accepted.status)
      // Whoever came second: the withdrawal removes the invitation or the member.
      expect(removed.outcome).toBe('204')
      const gone = accepted.status === 404 ? 'nothing' : []
      expect(await opens(OWN_PASSWORD)).toEqual(gone)
    }
  })

  test('409 resource_conflict for a hash under a salt that the address had before: no sign-in would find it', async () => {
    const { user } = await plane.insertPerson(email)
    const { db } = plane.database
    const own = user.password_hash as string
    expect((await findUserByHash(db, email, own))?.id).toBe(user.id)
    const earlier = findUserByHash(db, email, `$scrypt$ln=17,r=8,p=1$${'B'.repeat(22)}$hash`)
    await expect(earlier).rejects.toMatchObject({ code: 'resource_conflict' })
  })
})
