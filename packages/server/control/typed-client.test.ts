import Fastify from 'fastify'
import createClient from 'openapi-fetch'
import { afterAll, beforeAll, expect, test } from 'vitest'
import committed from '../../../docs/openapi.json' with { type: 'json' }
import type { paths } from '../../sdk/generated/control-api.ts'
import { type ControlPlane, openControlPlane, type Tenant } from '../testing/harness/control-plane.ts'
import { registerOpenApi } from './open-api.ts'
import { createOpenApiDocument } from './open-api-document.ts'

// The types are generated from the committed document. Compiling this file proves them against the requests; passing it
// proves them against the responses.

let plane: ControlPlane
let tenant: Tenant
beforeAll(async () => {
  plane = await openControlPlane()
  tenant = await plane.insertTenant('typed')
})
afterAll(() => plane.close())

const clientOf = (key: string) =>
  createClient<paths>({ baseUrl: plane.url, headers: { authorization: `Bearer ${key}` } })

test('the committed document equals the served one, except for the host', async () => {
  const served = (await plane.call<object>('GET', '/openapi.json')).json
  expect(served).toEqual({ ...(await createOpenApiDocument()), servers: [{ url: plane.url }] })
  expect(served).toEqual({ ...committed, servers: [{ url: plane.url }] })
})

test('the served document is the committed one as it is: the first caller waits for nothing that is made from schemas', async () => {
  const app = Fastify()
  registerOpenApi(app, { baseUrl: () => '/' })
  const { payload } = await app.inject('/openapi.json')
  await app.close()
  expect(JSON.parse(payload)).toEqual(committed)
})

test('a typed client creates, lists, renames and revokes a key', async () => {
  const client = clientOf(tenant.keys.developer)
  const inEnvironment = { path: { envId: tenant.development.id } }
  const made = await client.POST('/v1/environments/{envId}/keys', {
    params: inEnvironment,
    // Fields with a default are left out.
    body: { kind: 'secret', name: 'typed' },
  })
  expect(made.error).toBeUndefined()
  const { id, key } = made.data ?? expect.fail('no key')
  expect(key).toMatch(/^rd_/)

  const params = { path: { keyId: id } }
  const renamed = await client.PATCH('/v1/keys/{keyId}', { params, body: { name: 'renamed' } })
  expect(renamed.data?.name).toBe('renamed')
  const revoked = await client.POST('/v1/keys/{keyId}/revoke', { params })
  expect(revoked.response.status).toBe(200)

  const list = await client.GET('/v1/environments/{envId}/keys', {
    params: { ...inEnvironment, query: { limit: 1 } },
  })
  expect(list.data?.data.map(({ id, name }) => [id, name])).toEqual([[id, 'renamed']])
  expect(list.data?.has_more).toBe(false)
})

test("answers another tenant's environment with a typed 404 resource_not_found", async () => {
  const other = await plane.insertTenant('other')
  const { data, error, response } = await clientOf(tenant.keys.admin).GET('/v1/environments/{envId}/keys', {
    params: { path: { envId: other.development.id } },
  })
  expect(data).toBeUndefined()
  expect([response.status, error?.error.code]).toEqual([404, 'resource_not_found'])
})

test('the types reject an unknown path, a missing parameter and a value that is not listed', () => {
  // The compiler checks this: an expected error that does not occur is an error.
  const client = clientOf('never sent')
  const inEnvironment = { path: { envId: tenant.development.id } }
  const calls = [
    // @ts-expect-error no operation has this path
    () => client.GET('/v1/nothing'),
    // @ts-expect-error the environment is missing
    () => client.GET('/v1/environments/{envId}/keys'),
    () =>
      client.POST('/v1/environments/{envId}/keys', {
        params: inEnvironment,
        // @ts-expect-error there is no such kind
        body: { kind: 'open', name: 'typed' },
      }),
  ]
  expect(calls).toHaveLength(3)
})
