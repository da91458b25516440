import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { insertIdentity } from '../../storage/users/identities.ts'
import {
  type ControlPlane,
  openControlPlane,
  PASSWORD,
  type Person,
  type Tenant,
} from '../../testing/harness/control-plane.ts'

const NEW_PASSWORD = 'another long password'

let plane: ControlPlane
let ours: Tenant
let theirs: Tenant
let person: Person
let memberId: string
beforeAll(async () => {
  plane = await openControlPlane()
  ours = await plane.insertTenant('ours')
  theirs = await plane.insertTenant('theirs')
})
afterAll(() => plane.close())
beforeEach(async () => {
  plane.clock.advance(60_000)
  person = await plane.insertPerson()
  memberId = await plane.insertMember(ours.organization.id, person, 'developer')
})

const issue = (cookie = ours.people.owner.cookie, id = memberId) =>
  plane.call<{ reset_url: string; expires_at: string }>('POST', `/v1/members/${id}/reset-link`, { cookie })
const use = (reset_token: string, new_password = NEW_PASSWORD) =>
  plane.call('POST', '/v1/session/password-reset', { body: { reset_token, new_password } })
const tokenOf = (url: string) => new URLSearchParams(new URL(url).hash.slice(1)).get('token') as string
const signIn = async (password: string) =>
  (await plane.call('POST', '/v1/session', { body: { email: person.user.email, password } })).outcome

const identityOf = ({ user }: Person, of: string) => ({
  issuer: of,
  subject: user.id,
  user_id: user.id,
  created_at: new Date(0),
})

describe('an owner-issued reset link', () => {
  test('sets a new password once, ends every session and signs the user in', async () => {
    const { status, json } = await issue()
    expect(status).toBe(201)
    expect(json.reset_url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/reset-password#token=[\w-]{43}$/)
    expect(Date.parse(json.expires_at)).toBe(plane.clock.now() + 3_600_000)
    const token = tokenOf(json.reset_url)
    const used = await use(token)
    expect(used.outcome).toBe('200')
    expect(used.json).toMatchObject({ user: { email: person.user.email } })
    expect(used.headers.getSetCookie()[0]).toMatch(/^rideau_session=/)
    expect((await plane.call('GET', '/v1/session', { cookie: person.cookie })).outcome).toBe(
      '401 unauthenticated',
    )
    expect(await signIn(PASSWORD)).toBe('401 sign_in_failed')
    expect(await signIn(NEW_PASSWORD)).toBe('201')
    expect((await use(token)).outcome).toBe('404 resource_not_found reset_token')
    const stored = JSON.stringify(await plane.database.db.selectFrom('password_resets').selectAll().execute())
    expect(stored + plane.logged()).not.toContain(token)
  })

  test('succeeds for one of two concurrent uses', async () => {
    const token = tokenOf((await issue()).json.reset_url)
    const answers = await Promise.all([use(token, 'the first password'), use(token, 'the second password')])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404])
  })

  test('is invalid after an hour, after a newer link, and after a change of the password', async () => {
    const first = tokenOf((await issue()).json.reset_url)
    const second = tokenOf((await issue()).json.reset_url)
    expect((await use(first)).outcome).toBe('404 resource_not_found reset_token')
    const body = { current_password: PASSWORD, new_password: NEW_PASSWORD }
    await plane.call('POST', '/v1/session/password', { cookie: person.cookie, body })
    expect((await use(second)).outcome).toBe('404 resource_not_found reset_token')
    const third = tokenOf((await issue()).json.reset_url)
    plane.clock.advance(3_600_000)
    expect((await use(third)).outcome).toBe('404 resource_not_found reset_token')
  })

  test('403 insufficient_role for admins, and for a user who belongs to an organization that the owner does not own', async () => {
    expect((await issue(ours.people.admin.cookie)).outcome).toBe('403 insufficient_role')
    await plane.insertMember(theirs.organization.id, person, 'viewer')
    expect((await issue()).outcome).toBe('403 insufficient_role')
    expect((await issue(theirs.people.owner.cookie)).outcome).toBe('404 resource_not_found')
  })

  test('is invalid once the user has joined an organization of another owner', async () => {
    const token = tokenOf((await issue()).json.reset_url)
    await plane.insertMember(theirs.organization.id, person, 'owner')
    expect((await use(token)).outcome).toBe('404 resource_not_found reset_token')
    expect(await signIn(PASSWORD)).toBe('201')
  })

  test('is invalid once its issuer is no longer an owner', async () => {
    const owner = await plane.insertPerson()
    const id = await plane.insertMember(ours.organization.id, owner, 'owner')
    const token = tokenOf((await issue(owner.cookie)).json.reset_url)
    const { cookie } = ours.people.owner
    expect((await plane.call('DELETE', `/v1/members/${id}`, { cookie })).outcome).toBe('204')
    expect((await use(token)).outcome).toBe('404 resource_not_found reset_token')
  })

  test('opens the account of a user whose sign-in by OIDC was turned off', async () => {
    await insertIdentity(plane.database.db, identityOf(person, 'https://issuer.example'))
    expect((await use(tokenOf((await issue()).json.reset_url))).outcome).toBe('200')
    expect(await signIn(NEW_PASSWORD)).toBe('201')
  })

  test("409 resource_conflict for the owner's own account and for a pending invitation", async () => {
    const { cookie } = ours.people.owner
    const members = await plane.call<{ data: { id: string; role: string }[] }>(
      'GET',
      `/v1/orgs/${ours.organization.id}/members?limit=100`,
      { cookie },
    )
    const own = members.json.data.find(({ role }) => role === 'owner')?.id as string
    expect((await issue(cookie, own)).outcome).toBe('409 resource_conflict')
    const invited = await plane.call<{ id: string }>('POST', `/v1/orgs/${ours.organization.id}/members`, {
      cookie,
      body: { email: 'new@example.com', role: 'viewer' },
    })
    expect((await issue(cookie, invited.json.id)).outcome).toBe('409 resource_conflict')
  })
})

test('403 insufficient_role for a user of the configured issuer, but not for one of an earlier issuer only', async () => {
  const oidc = { issuer: 'https://issuer.example', clientId: 'c', clientSecret: 's', allowInsecure: false }
  const configured = await openControlPlane({ oidc })
  try {
    const tenant = await configured.insertTenant('acme')
    const member = await configured.insertPerson()
    const id = await configured.insertMember(tenant.organization.id, member, 'developer')
    const { cookie } = tenant.people.owner
    const outcome = async () =>
      (await configured.call('POST', `/v1/members/${id}/reset-link`, { cookie })).outcome
    await insertIdentity(configured.database.db, identityOf(member, 'https://earlier.example'))
    expect(await outcome()).toBe('201')
    await insertIdentity(configured.database.db, identityOf(member, 'https://issuer.example'))
    expect(await outcome()).toBe('403 insufficient_role')
  } finally {
    await configured.close()
  }
})
