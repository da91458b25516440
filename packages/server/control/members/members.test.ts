import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Role } from '../../core/access/permissions.ts'
import {
  type ControlPlane,
  type List,
  openControlPlane,
  type Person,
  type Tenant,
} from '../../testing/harness/control-plane.ts'

interface Member {
  id: string
  org_id: string
  user: { id: string; email: string; name: string | null } | null
  role: Role
  invite_email: string | null
  invited_by: string | null
  accepted_at: string | null
}

let plane: ControlPlane
let tenant: Tenant
let path: string
beforeAll(async () => {
  plane = await openControlPlane()
})
afterAll(() => plane.close())
beforeEach(async () => {
  tenant = await plane.insertTenant('acme')
  path = `/v1/orgs/${tenant.organization.id}/members`
})

const by = (role: Role) => ({ cookie: tenant.people[role].cookie })
const list = async () => (await plane.call<List<Member>>('GET', path, by('viewer'))).json.data
const memberOf = async (role: Role) => (await list()).find(member => member.role === role)?.id as string
const invite = (role: Role, email: string, wanted: string) =>
  plane.call<Member & { accept_url: string }>('POST', path, { ...by(role), body: { email, role: wanted } })
const setRole = async (actor: Person, id: string, role: string) =>
  (await plane.call<Member>('PATCH', `/v1/members/${id}`, { cookie: actor.cookie, body: { role } })).outcome
const remove = async (actor: Person, id: string) =>
  (await plane.call('DELETE', `/v1/members/${id}`, { cookie: actor.cookie })).outcome

describe('GET /v1/orgs/{orgId}/members', () => {
  test('lists members and invitations with every field', async () => {
    const joined = new Date(plane.clock.now()).toISOString()
    plane.clock.advance(1000)
    await invite('admin', 'new@example.com', 'developer')
    const [invited, ...members] = await list()
    const stamp = new Date(plane.clock.now()).toISOString()
    expect(invited).toEqual({
      id: expect.any(String),
      org_id: tenant.organization.id,
      user: null,
      role: 'developer',
      invite_email: 'new@example.com',
      invited_by: tenant.people.admin.user.id,
      accepted_at: null,
      created_at: stamp,
      updated_at: stamp,
    })
    expect(members.map(({ role }) => role).sort()).toEqual(['admin', 'developer', 'owner', 'viewer'])
    const { id, email } = tenant.people.owner.user
    expect(members.find(({ role }) => role === 'owner')).toMatchObject({
      user: { id, email, name: null },
      invite_email: null,
      invited_by: null,
      accepted_at: joined,
    })
  })

  test('continues from its cursor', async () => {
    const seen: string[] = []
    let query = '?limit=2'
    for (;;) {
      const { json } = await plane.call<List<Member>>('GET', path + query, by('viewer'))
      seen.push(...json.data.map(({ id }) => id))
      if (json.next_cursor === null) break
      query = `?limit=2&cursor=${json.next_cursor}`
    }
    expect(seen).toEqual((await list()).map(({ id }) => id))
  })
})

describe('POST /v1/orgs/{orgId}/members', () => {
  test('201 with the link, once; its token is stored and logged nowhere', async () => {
    const { status, json } = await invite('owner', ' New@Example.com', 'owner')
    expect(status).toBe(201)
    expect(json).toMatchObject({ invite_email: 'new@example.com', role: 'owner', user: null })
    expect(json.accept_url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/accept-invitation#token=[\w-]{43}$/)
    const token = json.accept_url.split('token=')[1] as string
    const stored = await plane.database.db.selectFrom('members').selectAll().execute()
    expect(JSON.stringify([stored, await list()]) + plane.logged()).not.toContain(token)
  })

  test("403 insufficient_role above the caller's role, and for an owner invited by a management key", async () => {
    expect((await invite('admin', 'a@example.com', 'owner')).outcome).toBe('403 insufficient_role')
    expect((await invite('developer', 'a@example.com', 'viewer')).outcome).toBe('403 insufficient_role')
    const body = { email: 'a@example.com', role: 'owner' }
    const byKey = await plane.call('POST', path, { key: tenant.keys.admin, body })
    expect(byKey.outcome).toBe('403 insufficient_role')
    const asAdmin = await plane.call<Member>('POST', path, {
      key: tenant.keys.admin,
      body: { ...body, role: 'admin' },
    })
    // The tests' keys have no creator.
    const { rows } = await plane.database.pool.query(
      "select id from management_keys where org_id = $1 and role = 'admin'",
      [tenant.organization.id],
    )
    expect([asAdmin.outcome, asAdmin.json.invited_by]).toEqual(['201', rows[0]?.id])
  })

  test('invited_by is the user who created the management key that invites', async () => {
    const { cookie, user } = tenant.people.owner
    const made = await plane.call<{ key: string }>(
      'POST',
      `/v1/orgs/${tenant.organization.id}/management-keys`,
      { cookie, body: { name: 'robot', role: 'admin' } },
    )
    const body = { email: 'by-robot@example.com', role: 'viewer' }
    const { json } = await plane.call<Member>('POST', path, { key: made.json.key, body })
    expect(json.invited_by).toBe(user.id)
  })

  test('409 resource_conflict for an address that is invited or a member, however it is written', async () => {
    await invite('admin', 'new@example.com', 'viewer')
    const again = await invite('owner', 'NEW@example.com', 'admin')
    expect(again.outcome).toBe('409 resource_conflict email')
    const member = await invite('owner', tenant.people.viewer.user.email, 'admin')
    expect(member.outcome).toBe('409 resource_conflict email')
  })

  test('one of several concurrent invitations of an address succeeds', async () => {
    const answers = await Promise.all([1, 2, 3].map(() => invite('admin', 'new@example.com', 'viewer')))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409])
  })

  test('replaces an expired invitation', async () => {
    await invite('admin', 'new@example.com', 'viewer')
    plane.clock.advance(7 * 24 * 3_600_000)
    // The sessions of this test have expired by then, too.
    const again = await plane.call<Member>('POST', path, {
      key: tenant.keys.admin,
      body: { email: 'new@example.com', role: 'admin' },
    })
    expect(again.outcome).toBe('201')
    const { json } = await plane.call<List<Member>>('GET', path, { key: tenant.keys.viewer })
    expect(json.data.filter(({ user }) => user === null).map(({ role }) => role)).toEqual(['admin'])
  })

  test.each([
    [{ email: 'nobody', role: 'viewer' }, 'email'],
    [{ email: 'a@b.example' }, 'role'],
    [{ email: 'a@b.example', role: 'god' }, 'role'],
    [{ email: 'a@b.example', role: 'viewer', name: 'A' }, 'name'],
  ])('400 invalid_request: %j', async (body, param) => {
    const { outcome } = await plane.call('POST', path, { ...by('owner'), body })
    expect(outcome).toBe(`400 invalid_request ${param}`)
  })
})

describe('PATCH and DELETE /v1/members/{memberId}', () => {
  test("a changed role applies to the member's next call", async () => {
    const { owner, developer } = tenant.people
    const create = () =>
      plane.call('POST', `/v1/orgs/${tenant.organization.id}/projects`, {
        cookie: developer.cookie,
        body: { name: 'p' },
      })
    expect((await create()).outcome).toBe('403 insufficient_role')
    expect(await setRole(owner, await memberOf('developer'), 'admin')).toBe('200')
    expect((await create()).outcome).toBe('201')
  })

  test("a removed member's sessions lose the organization at the next call and stay valid", async () => {
    const { admin, developer } = tenant.people
    expect(await remove(admin, await memberOf('developer'))).toBe('204')
    const get = (route: string) => plane.call<{ memberships: [] }>('GET', route, { cookie: developer.cookie })
    expect((await get(path)).outcome).toBe('404 resource_not_found')
    expect((await get('/v1/session')).json.memberships).toEqual([])
    expect(await list()).toHaveLength(3)
  })

  test('403 insufficient_role: only owners may change or remove owners', async () => {
    const { admin, owner } = tenant.people
    expect(await setRole(admin, await memberOf('owner'), 'viewer')).toBe('403 insufficient_role')
    expect(await remove(admin, await memberOf('owner'))).toBe('403 insufficient_role')
    expect(await setRole(admin, await memberOf('admin'), 'owner')).toBe('403 insufficient_role')
    expect(await setRole(owner, await memberOf('admin'), 'owner')).toBe('200')
  })

  test('409 resource_conflict: the last owner cannot be demoted or removed, whatever invitations there are', async () => {
    await invite('owner', 'new@example.com', 'owner')
    const { owner } = tenant.people
    const member = (await list()).find(({ role, user }) => role === 'owner' && user !== null)?.id as string
    expect(await setRole(owner, member, 'admin')).toBe('409 resource_conflict')
    expect(await remove(owner, member)).toBe('409 resource_conflict')
    expect(await setRole(owner, member, 'owner')).toBe('200')
  })

  test.each(['demoted', 'removed'])('of two owners who are %s concurrently, one stays', async how => {
    for (let round = 0; round < 5; round++) {
      const { organization } = await plane.insertTenant('contested')
      await plane.database.db.deleteFrom('members').where('org_id', '=', organization.id).execute()
      const [ada, bob] = [await plane.insertPerson(), await plane.insertPerson()]
      const adas = await plane.insertMember(organization.id, ada, 'owner')
      const bobs = await plane.insertMember(organization.id, bob, 'owner')
      const end = (actor: Person, id: string) =>
        how === 'demoted' ? setRole(actor, id, 'admin') : remove(actor, id)
      const outcomes = await Promise.all([end(ada, bobs), end(bob, adas)])
      const owners = await plane.database.db
        .selectFrom('members')
        .select('id')
        .where('org_id', '=', organization.id)
        .where('role', '=', 'owner')
        .execute()
      expect(owners).toHaveLength(1)
      expect(outcomes.filter(outcome => /^20[04]$/.test(outcome))).toHaveLength(1)
    }
  })

  test('withdraws an invitation', async () => {
    const { json } = await invite('admin', 'new@example.com', 'viewer')
    expect(await remove(tenant.people.admin, json.id)).toBe('204')
    const token = json.accept_url.split('token=')[1]
    const body = { token, password: 'a long enough password' }
    const accepted = await plane.call('POST', '/v1/invitations/accept', { body })
    expect(accepted.outcome).toBe('404 resource_not_found token')
  })
})
