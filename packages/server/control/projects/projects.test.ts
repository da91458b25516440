import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type ControlPlane,
  type List,
  openControlPlane,
  type Tenant,
} from '../../testing/harness/control-plane.ts'

interface Project {
  id: string
  slug: string
  allowed_origins: string[]
}

let plane: ControlPlane
let tenant: Tenant
beforeAll(async () => {
  plane = await openControlPlane()
  tenant = await plane.insertTenant('acme')
})
afterAll(() => plane.close())

const create = (body: object) =>
  plane.call<Project>('POST', `/v1/orgs/${tenant.organization.id}/projects`, { key: tenant.keys.admin, body })
const patch = (id: string, body: object) =>
  plane.call<Project>('PATCH', `/v1/projects/${id}`, { key: tenant.keys.admin, body })

describe('POST /v1/orgs/{orgId}/projects', () => {
  test('201 with the record; creates both environments, with the sandbox in development', async () => {
    const body = { name: 'Chat App', allowed_origins: ['https://App.example', 'capacitor://localhost'] }
    const { status, json } = await create(body)
    expect(status).toBe(201)
    expect(json).toEqual({
      id: expect.any(String),
      org_id: tenant.organization.id,
      name: 'Chat App',
      slug: 'chat-app',
      allowed_origins: ['https://app.example', 'capacitor://localhost'],
      created_at: new Date(plane.clock.now()).toISOString(),
      updated_at: new Date(plane.clock.now()).toISOString(),
    })
    const get = async (path: string) =>
      (await plane.call<List<Record<string, unknown>>>('GET', path, { key: tenant.keys.viewer })).json.data
    const environments = await get(`/v1/projects/${json.id}/environments`)
    expect(environments.map(({ name }) => name)).toEqual(['development', 'production'])
    const credentials = await get(`/v1/projects/${json.id}/provider-credentials`)
    expect(credentials).toMatchObject([{ provider: 'sandbox', environment_id: environments[0]?.id }])
  })

  test('201 for each of concurrent calls with one name and no slug, with a slug of its own', async () => {
    const made = await Promise.all(Array.from({ length: 8 }, () => create({ name: 'At once' })))
    expect(made.map(({ outcome }) => outcome)).toEqual(made.map(() => '201'))
    const slugs = made.map(({ json }) => json.slug)
    expect(slugs).toContain('at-once')
    expect(new Set(slugs).size).toBe(8)
    for (const { json } of made) await patch(json.id, { name: 'Renamed' })
    const renamed = await Promise.all(made.map(({ json }) => patch(json.id, { slug: null })))
    expect(renamed.map(({ outcome }) => outcome)).toEqual(made.map(() => '200'))
  })

  test('a slug is unique within its organization', async () => {
    expect((await create({ name: 'Twice', slug: 'twice' })).outcome).toBe('201')
    expect((await create({ name: 'Other', slug: 'twice' })).outcome).toBe('409 resource_conflict slug')
    expect((await create({ name: 'Twice' })).json.slug).toMatch(/^twice-[0-9a-f]{8}$/)
    const other = await plane.insertTenant('other')
    const there = await plane.call('POST', `/v1/orgs/${other.organization.id}/projects`, {
      key: other.keys.admin,
      body: { name: 'Twice', slug: 'twice' },
    })
    expect(there.outcome).toBe('201')
  })

  test.each([
    [{}, 'name'],
    [{ name: 'x', slug: '' }, 'slug'],
    [{ name: 'x', allowed_origins: 'https://a.example' }, 'allowed_origins'],
    [{ name: 'x', allowed_origins: ['https://a.example', 'https://a.example/path'] }, 'allowed_origins[1]'],
    [{ name: 'x', allowed_origins: ['https://*.example'] }, 'allowed_origins[0]'],
    [{ name: 'x', org_id: 'y' }, 'org_id'],
  ])('400 invalid_request: %j', async (body, param) => {
    expect((await create(body)).outcome).toBe(`400 invalid_request ${param}`)
  })
})

describe('PATCH /v1/projects/{projectId}', () => {
  test('changes only the fields that were sent; null allows no browser origin and makes the slug again', async () => {
    const made = await create({ name: 'Change', allowed_origins: ['http://localhost:5173'] })
    plane.clock.advance(1000)
    const renamed = await patch(made.json.id, { name: 'Changed' })
    expect(renamed.json).toEqual({
      ...made.json,
      name: 'Changed',
      updated_at: new Date(plane.clock.now()).toISOString(),
    })
    const same = await patch(made.json.id, {
      allowed_origins: ['https://a.example', 'https://a.example:443'],
    })
    expect(same.json.allowed_origins).toEqual(['https://a.example'])
    expect((await patch(made.json.id, { allowed_origins: null })).json.allowed_origins).toEqual([])
    expect((await patch(made.json.id, { slug: 'project' })).outcome).toBe('409 resource_conflict slug')
    expect((await patch(made.json.id, { name: null })).outcome).toBe('400 invalid_request name')
    expect((await patch(made.json.id, { slug: 'own-words' })).json.slug).toBe('own-words')
    expect((await patch(made.json.id, { slug: null })).json.slug).toBe('changed')
    const { json } = await create({ name: 'Another', slug: 'another-one' })
    const taken = await patch(json.id, { name: 'Changed', slug: null })
    expect(taken.json.slug).toMatch(/^changed-[0-9a-f]{8}$/)
  })
})

describe('DELETE /v1/projects/{projectId}', () => {
  test('204; everything below the project is deleted and its slug is free', async () => {
    const { json } = await create({ name: 'Doomed', slug: 'doomed' })
    const path = `/v1/projects/${json.id}`
    const { key } = { key: tenant.keys.admin }
    const before = plane.writes()
    expect((await plane.call('DELETE', path, { key })).outcome).toBe('204')
    expect(plane.writes()).toBe(before + 1)
    for (const route of [path, `${path}/environments`]) {
      expect((await plane.call('GET', route, { key })).outcome).toBe('404 resource_not_found')
    }
    expect((await plane.call('DELETE', path, { key })).outcome).toBe('404 resource_not_found')
    const list = await plane.call('GET', `/v1/orgs/${tenant.organization.id}/projects?limit=100`, { key })
    expect(list.text).not.toContain(json.id)
    expect((await create({ name: 'Doomed', slug: 'doomed' })).outcome).toBe('201')
  })
})
