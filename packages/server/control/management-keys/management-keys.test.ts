import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type ControlPlane,
  type List,
  openControlPlane,
  type Tenant,
} from '../../testing/harness/control-plane.ts'

interface ManagementKey {
  id: string
  role: string
  revoked_at: string | null
}

let plane: ControlPlane
let tenant: Tenant
let path: string
beforeAll(async () => {
  plane = await openControlPlane()
  tenant = await plane.insertTenant('acme')
  path = `/v1/orgs/${tenant.organization.id}/management-keys`
})
afterAll(() => plane.close())

const create = (body: object) =>
  plane.call<ManagementKey & { key: string }>('POST', path, { cookie: tenant.people.owner.cookie, body })
const use = async (key: string) => (await plane.call('GET', '/v1/orgs', { key })).outcome

describe('POST /v1/orgs/{orgId}/management-keys', () => {
  test('201: the new key works at once, with its own role only, and its plaintext is shown once', async () => {
    const { status, json } = await create({ name: 'CI', role: 'viewer' })
    expect(status).toBe(201)
    const { key, ...record } = json
    expect(key).toMatch(/^rd_mk_[0-9A-Za-z]{30}$/)
    expect(record).toEqual({
      id: expect.any(String),
      org_id: tenant.organization.id,
      name: 'CI',
      role: 'viewer',
      prefix_display: `rd_mk_…${key.slice(-4)}`,
      expires_at: null,
      revoked_at: null,
      last_used_at: null,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    })
    expect(await use(key)).toBe('200')
    const project = `/v1/projects/${tenant.project.id}`
    expect((await plane.call('PATCH', project, { key, body: {} })).outcome).toBe('403 insufficient_role')
    const list = await plane.call<List<ManagementKey>>('GET', path, { key })
    expect(list.json.data.find(({ id }) => id === record.id)).toEqual({
      ...record,
      last_used_at: expect.any(String),
    })
    expect(list.text + plane.logged()).not.toContain(key)
  })

  test('403 insufficient_role for a management key and for an admin', async () => {
    const body = { name: 'x', role: 'viewer' }
    const { cookie } = tenant.people.admin
    expect((await plane.call('POST', path, { cookie, body })).outcome).toBe('403 insufficient_role')
    for (const key of Object.values(tenant.keys)) {
      expect((await plane.call('POST', path, { key, body })).outcome).toBe('403 insufficient_role')
    }
  })

  test('is rejected after its expiry', async () => {
    const expires_at = new Date(plane.clock.now() + 60_000).toISOString()
    const { json } = await create({ name: 'x', role: 'admin', expires_at })
    expect(await use(json.key)).toBe('200')
    plane.clock.advance(60_000)
    expect(await use(json.key)).toBe('401 key_expired')
  })

  test.each([
    [{ name: 'x' }, 'role'],
    [{ name: 'x', role: 'owner' }, 'role'],
    [{ name: '', role: 'viewer' }, 'name'],
    [{ name: 'x', role: 'viewer', expires_at: '2001-01-01T00:00:00Z' }, 'expires_at'],
    [{ name: 'x', role: 'viewer', scopes: [] }, 'scopes'],
  ])('400 invalid_request: %j', async (body, param) => {
    expect((await create(body)).outcome).toBe(`400 invalid_request ${param}`)
  })
})

describe('POST /v1/management-keys/{keyId}/revoke and DELETE', () => {
  test.each(['revoke', 'delete'])(
    '%s: rejects the next call with the key; a second call changes nothing',
    async how => {
      const { cookie } = tenant.people.owner
      const { json } = await create({ name: 'x', role: 'admin' })
      const route = `/v1/management-keys/${json.id}`
      const end = () =>
        how === 'revoke'
          ? plane.call<ManagementKey>('POST', `${route}/revoke`, { cookie })
          : plane.call<ManagementKey>('DELETE', route, { cookie })
      expect(await use(json.key)).toBe('200')
      const ended = await end()
      expect(ended.outcome).toBe(how === 'revoke' ? '200' : '204')
      expect(await use(json.key)).toBe('401 key_revoked')
      const at = new Date(plane.clock.now()).toISOString()
      plane.clock.advance(1000)
      await end()
      const { data } = (await plane.call<List<ManagementKey>>('GET', path, { cookie })).json
      expect(data.find(({ id }) => id === json.id)?.revoked_at).toBe(at)
    },
  )

  test('403 insufficient_role for a management key, even on itself', async () => {
    const { json } = await create({ name: 'x', role: 'admin' })
    const { outcome } = await plane.call('POST', `/v1/management-keys/${json.id}/revoke`, { key: json.key })
    expect(outcome).toBe('403 insufficient_role')
  })
})
