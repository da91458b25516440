import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { MAX_MEMBERSHIPS } from '../../storage/users/members.ts'
import {
  type ControlPlane,
  type List,
  openControlPlane,
  type Tenant,
} from '../../testing/harness/control-plane.ts'

interface Organization {
  id: string
  name: string
  slug: string
  time_zone: string
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
  path = `/v1/orgs/${tenant.organization.id}`
})

describe('POST /v1/orgs', () => {
  test('201: every signed-in user can create one and becomes its owner', async () => {
    const { cookie } = await plane.insertPerson()
    const body = { name: 'Čapek & Söhne', time_zone: 'Europe/Prague' }
    const { status, json } = await plane.call<Organization>('POST', '/v1/orgs', { cookie, body })
    expect(status).toBe(201)
    expect(json).toMatchObject({ ...body, slug: 'capek-sohne' })
    const session = await plane.call<{ memberships: object[] }>('GET', '/v1/session', { cookie })
    expect(session.json.memberships).toMatchObject([{ role: 'owner', organization: { id: json.id } }])
    const project = await plane.call('POST', `/v1/orgs/${json.id}/projects`, { cookie, body: { name: 'p' } })
    expect(project.outcome).toBe('201')
    expect((await plane.call<List<Organization>>('GET', '/v1/orgs', { cookie })).json.data).toEqual([json])
  })

  test('409 resource_conflict: for a user in 500 organizations already, which every call of that user reads', async () => {
    const { user, cookie } = await plane.insertPerson()
    await plane.database.pool.query(
      `with made as (
        insert into organizations select (o.r).* from (select jsonb_populate_record(organizations, jsonb_build_object(
          'id', gen_random_uuid(), 'slug', gen_random_uuid())) as r
          from organizations, generate_series(1, ${MAX_MEMBERSHIPS}) where id = $1 offset 0) o returning id
      ) insert into members (id, org_id, user_id, role, accepted_at, created_at, updated_at)
        select gen_random_uuid(), id, $2, 'owner', now(), now(), now() from made`,
      [tenant.organization.id, user.id],
    )
    const create = () => plane.call<Organization>('POST', '/v1/orgs', { cookie, body: { name: 'One more' } })
    expect((await create()).outcome).toBe('409 resource_conflict')
    const [first] = (await plane.call<List<Organization>>('GET', '/v1/orgs', { cookie })).json.data
    await plane.call('DELETE', `/v1/orgs/${first?.id}`, { cookie })
    expect((await create()).outcome).toBe('201')
  })

  test('makes the slug unique if the name is taken; a requested slug that is taken is 409', async () => {
    const { cookie } = tenant.people.viewer
    const make = (body: object) => plane.call<Organization>('POST', '/v1/orgs', { cookie, body })
    expect((await make({ name: 'Twice', slug: 'twice' })).outcome).toBe('201')
    const second = await make({ name: 'Twice' })
    expect([second.outcome, second.json.time_zone]).toEqual(['201', 'UTC'])
    expect(second.json.slug).toMatch(/^twice-[0-9a-f]{8}$/)
    expect((await make({ name: 'Other', slug: 'twice' })).outcome).toBe('409 resource_conflict slug')
  })

  test('201 for each of concurrent calls with one name and no slug, with a slug of its own', async () => {
    const { cookie } = tenant.people.viewer
    const make = () =>
      plane.call<Organization>('POST', '/v1/orgs', { cookie, body: { name: 'At the same time' } })
    const made = await Promise.all(Array.from({ length: 8 }, make))
    expect(made.map(({ outcome }) => outcome)).toEqual(made.map(() => '201'))
    const slugs = made.map(({ json }) => json.slug)
    expect(slugs).toContain('at-the-same-time')
    expect(new Set(slugs).size).toBe(8)
  })

  test('403 insufficient_role for a management key', async () => {
    const { outcome } = await plane.call('POST', '/v1/orgs', { key: tenant.keys.admin, body: { name: 'x' } })
    expect(outcome).toBe('403 insufficient_role')
  })

  test.each([
    [{}, 'name'],
    [{ name: 'x', slug: 'Not A Slug' }, 'slug'],
    [{ name: 'x', slug: 'a'.repeat(49) }, 'slug'],
    [{ name: 'x', slug: '-a' }, 'slug'],
    [{ name: 'x', time_zone: 'Mars/Olympus' }, 'time_zone'],
    [{ name: 'x', time_zone: '+02:00' }, 'time_zone'],
    // Node accepts these, and PostgreSQL does not know them, or takes them for an offset.
    [{ name: 'x', time_zone: 'AET' }, 'time_zone'],
    [{ name: 'x', time_zone: 'PST' }, 'time_zone'],
    [{ name: 'x', time_zone: 'SystemV/EST5EDT' }, 'time_zone'],
    [{ name: 'x', time_zone: 'US/Pacific-New' }, 'time_zone'],
    [{ name: 'x', owner: 'y' }, 'owner'],
  ])('400 invalid_request: %j', async (body, param) => {
    const { cookie } = tenant.people.viewer
    expect((await plane.call('POST', '/v1/orgs', { cookie, body })).outcome).toBe(
      `400 invalid_request ${param}`,
    )
  })
})

describe('PATCH /v1/orgs/{orgId}', () => {
  const patch = (body: object) => plane.call<Organization>('PATCH', path, { key: tenant.keys.admin, body })

  test('changes only the fields that were sent', async () => {
    plane.clock.advance(1000)
    const { json } = await patch({ time_zone: 'Asia/Kolkata' })
    expect(json).toMatchObject({ name: 'acme', slug: tenant.organization.slug, time_zone: 'Asia/Kolkata' })
    expect(json).toHaveProperty('updated_at', new Date(plane.clock.now()).toISOString())
    expect((await patch({ time_zone: null })).json.time_zone).toBe('UTC')
    expect((await patch({ name: 'New', slug: 'new-one' })).json).toMatchObject({
      name: 'New',
      slug: 'new-one',
    })
    expect((await patch({})).outcome).toBe('200')
  })

  test.each([
    ['CET', 'Europe/Brussels'],
    ['met', 'Europe/Brussels'],
    ['EET', 'Europe/Athens'],
    ['WET', 'Europe/Lisbon'],
    ['europe/KYIV', 'Europe/Kyiv'],
    ['EST5EDT', 'EST5EDT'],
  ])('stores the time zone %s as %s', async (time_zone, stored) => {
    expect((await patch({ time_zone })).json.time_zone).toBe(stored)
  })

  test('makes the slug from the name again where it is null, with a suffix if another has it', async () => {
    expect((await patch({ name: 'Néw Name', slug: null })).json.slug).toBe('new-name')
    expect((await patch({ slug: null })).json.slug).toBe('new-name')
    const other = await plane.insertTenant('other')
    const taken = await plane.call<Organization>('PATCH', `/v1/orgs/${other.organization.id}`, {
      key: other.keys.admin,
      body: { name: 'New name', slug: null },
    })
    expect(taken.json.slug).toMatch(/^new-name-[0-9a-f]{8}$/)
  })

  test('409 resource_conflict for the slug of another organization', async () => {
    const other = await plane.insertTenant('other')
    expect((await patch({ slug: 'mine' })).outcome).toBe('200')
    const taken = await plane.call('PATCH', `/v1/orgs/${other.organization.id}`, {
      key: other.keys.admin,
      body: { slug: 'mine' },
    })
    expect(taken.outcome).toBe('409 resource_conflict slug')
    expect(taken.headers.get('x-should-retry')).toBe('false')
  })

  test.each([
    [{ name: null }, 'name'],
    [{ time_zone: 'x' }, 'time_zone'],
    [{ time_zone: 'act' }, 'time_zone'],
  ])('400 invalid_request: %j', async (body, param) =>
    expect((await patch(body)).outcome).toBe(`400 invalid_request ${param}`),
  )
})

describe('DELETE /v1/orgs/{orgId}', () => {
  test('204 for its owner: it is deleted, its management keys are revoked and its slug is free', async () => {
    const { owner, admin } = tenant.people
    expect((await plane.call('DELETE', path, { cookie: admin.cookie })).outcome).toBe('403 insufficient_role')
    const before = plane.writes()
    expect((await plane.call('DELETE', path, { cookie: owner.cookie })).outcome).toBe('204')
    expect(plane.writes()).toBe(before + 1)
    expect((await plane.call('GET', path, { cookie: owner.cookie })).outcome).toBe('404 resource_not_found')
    expect((await plane.call('DELETE', path, { cookie: owner.cookie })).outcome).toBe(
      '404 resource_not_found',
    )
    for (const key of Object.values(tenant.keys)) {
      expect((await plane.call('GET', '/v1/orgs', { key })).outcome).toBe('401 key_revoked')
    }
    const session = await plane.call<{ memberships: [] }>('GET', '/v1/session', { cookie: owner.cookie })
    expect(session.json.memberships).toEqual([])
    const body = { name: 'again', slug: tenant.organization.slug.slice(0, 40).replace(/-$/, '') }
    expect((await plane.call('POST', '/v1/orgs', { cookie: owner.cookie, body })).outcome).toBe('201')
  })
})
