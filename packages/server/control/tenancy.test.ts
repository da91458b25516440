import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type ControlPlane,
  type List,
  openControlPlane,
  type Tenant,
} from '../testing/harness/control-plane.ts'

interface EnvironmentRecord {
  id: string
  allowed_models: string[] | null
  updated_at: string
}

let plane: ControlPlane
let tenant: Tenant
let key: string
beforeAll(async () => {
  plane = await openControlPlane()
  tenant = await plane.insertTenant('acme')
  await plane.insertTenant('somebody else')
  key = tenant.keys.admin
})
afterAll(() => plane.close())

describe('reads', () => {
  test("return the caller's own organizations, projects and environments, with every field", async () => {
    const stamp = tenant.project.created_at.toISOString()
    const stamps = { created_at: stamp, updated_at: stamp }
    const { id: orgId, slug } = tenant.organization
    const organization = { id: orgId, name: 'acme', slug, time_zone: 'UTC', ...stamps }
    const project = {
      id: tenant.project.id,
      org_id: orgId,
      name: 'acme',
      slug: 'project',
      allowed_origins: [],
      ...stamps,
    }
    const environment = {
      id: tenant.development.id,
      org_id: orgId,
      project_id: project.id,
      name: 'development',
      is_default: true,
      log_retention_days: 30,
      log_capture: 'full',
      allowed_models: null,
      unsupported_params: 'refuse',
      on_client_gone: 'cancel',
      allow_client_passthrough: false,
      allow_secret_key_in_browser: false,
      ...stamps,
    }
    const get = async (path: string) => (await plane.call<List<unknown>>('GET', path, { key })).json
    const page = { has_more: false, next_cursor: null }
    expect(await get('/v1/orgs')).toEqual({ data: [organization], ...page })
    expect(await get(`/v1/orgs/${orgId}`)).toEqual(organization)
    expect(await get(`/v1/orgs/${orgId}/projects`)).toEqual({ data: [project], ...page })
    expect(await get(`/v1/projects/${project.id}`)).toEqual(project)
    expect(await get(`/v1/environments/${environment.id}`)).toEqual(environment)
    expect((await get(`/v1/projects/${project.id}/environments`)).data[0]).toEqual(environment)
  })

  test('accept an id in upper case', async () => {
    const { outcome } = await plane.call('GET', `/v1/projects/${tenant.project.id.toUpperCase()}`, { key })
    expect(outcome).toBe('200')
  })
})

describe('PATCH /v1/environments/{envId}', () => {
  const patch = (body: unknown) =>
    plane.call<EnvironmentRecord>('PATCH', `/v1/environments/${tenant.development.id}`, { key, body })

  test('changes only the fields that were sent; null clears a list', async () => {
    plane.clock.advance(1000)
    const before = plane.writes()
    const changed = await patch({
      allowed_models: ['openai/*'],
      log_capture: 'metadata',
      log_retention_days: 365,
    })
    expect(changed.json).toMatchObject({
      allowed_models: ['openai/*'],
      log_capture: 'metadata',
      log_retention_days: 365,
      unsupported_params: 'refuse',
      updated_at: new Date(plane.clock.now()).toISOString(),
    })
    expect(plane.writes()).toBe(before + 1)
    const cleared = await patch({ allowed_models: null })
    expect(cleared.json).toMatchObject({ allowed_models: null, log_capture: 'metadata' })
    expect((await patch({})).status).toBe(200)
  })

  test('null resets each setting to what a new environment of its name has', async () => {
    for (const { id } of [tenant.development, tenant.production]) {
      const path = `/v1/environments/${id}`
      const set = async (body: object) =>
        (await plane.call<EnvironmentRecord>('PATCH', path, { key, body })).json
      const other = {
        log_retention_days: 7,
        log_capture: id === tenant.development.id ? 'metadata' : 'full',
        allowed_models: ['openai/*'],
        unsupported_params: 'drop',
        on_client_gone: 'drain',
        allow_client_passthrough: true,
        allow_secret_key_in_browser: true,
      }
      expect(await set(other)).toMatchObject(other)
      const cleared = await set(Object.fromEntries(Object.keys(other).map(name => [name, null])))
      expect(cleared).toMatchObject({
        log_retention_days: 30,
        log_capture: id === tenant.development.id ? 'full' : 'metadata',
        allowed_models: null,
        unsupported_params: 'refuse',
        on_client_gone: 'cancel',
        allow_client_passthrough: false,
        allow_secret_key_in_browser: false,
      })
    }
  })

  test.each([
    [{ log_retention_days: 0 }, 'log_retention_days'],
    [{ log_retention_days: 366 }, 'log_retention_days'],
    [{ log_retention_days: 1.5 }, 'log_retention_days'],
    [{ log_capture: 'all' }, 'log_capture'],
    [{ allowed_models: ['a', ' '] }, 'allowed_models[1]'],
    [{ name: 'staging' }, 'name'],
    [{ allow_client_passthrough: 'yes' }, 'allow_client_passthrough'],
  ])('400 invalid_request: %j', async (body, param) => {
    expect((await patch(body)).outcome).toBe(`400 invalid_request ${param}`)
  })
})
