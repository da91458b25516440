import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../../server/testing/harness/app.ts'
import { type ControlClient, createControlClient, listAll } from '../control-client.ts'
import { RideauError } from '../errors.ts'
import { CONTROL_OPERATIONS } from '../generated/control-operations.ts'

let app: TestApp
let control: ControlClient
beforeAll(async () => {
  app = await openTestApp()
  control = createControlClient({ baseUrl: app.controlUrl, managementKey: app.managementKey })
})
afterAll(() => app.close())

test('creates, reads, changes, lists and deletes by the names of the operations', async () => {
  const path = { envId: app.developmentId }
  const made = await control.keys.create({ path, body: { kind: 'publishable', name: 'web' } })
  expect(made.key).toMatch(/^rd_pk_dev_/)
  const byId = { keyId: made.id }
  const renamed = await control.keys.update({ path: byId, body: { name: 'website' } })
  expect(renamed.name).toBe('website')
  expect((await control.keys.get({ path: byId })).name).toBe('website')
  expect((await control.keys.reveal({ path: byId })).key).toBe(made.key)
  expect(await control.keys.delete({ path: byId })).toBeUndefined()
  expect((await control.keys.get({ path: byId })).revoked_at).not.toBeNull()
  const catalog = await control.catalog.list_providers()
  expect(catalog.data.length).toBeGreaterThan(10)
})

test('listAll yields every record over all pages', async () => {
  const path = { orgId: app.orgId }
  for (const name of ['a', 'b', 'c']) await control.projects.create({ path, body: { name } })
  const names: string[] = []
  for await (const project of listAll(control.projects.list, { path, query: { limit: 1 } })) {
    names.push(project.name)
  }
  expect(names.slice(0, 3)).toEqual(['c', 'b', 'a'])
  expect(names).toHaveLength(4)
})

test('a list in the query is sent as its values one by one', async () => {
  const messages = [{ role: 'user', content: 'hi' }]
  const ids: string[] = []
  for (const model of ['sandbox/echo', 'sandbox/rejected', 'sandbox/unavailable']) {
    const { headers } = await app.call('/v1/chat', { model, messages })
    ids.push(headers.get('x-request-id') as string)
    await app.findLog(ids.at(-1) as string)
  }
  const path = { envId: app.developmentId }
  const { data } = await control.logs.list({ path, query: { status: [200, '5xx'] } })
  expect(data.map(({ request_id }) => request_id)).toEqual([ids[2], ids[0]])
})

test('an error has its code and field', async () => {
  const body = { kind: 'secret', name: '' } as const
  const call = control.keys.create({ path: { envId: app.developmentId }, body })
  await expect(call).rejects.toMatchObject({ code: 'invalid_request', status: 400, param: 'name' })
  const missing = control.keys.get({ path: { keyId: crypto.randomUUID() } })
  await expect(missing).rejects.toMatchObject({ code: 'resource_not_found', requestId: expect.any(String) })
})

test.each(['', '.', '..', undefined])('an id that would name another route is refused: %j', async keyId => {
  const call = async (): Promise<unknown> => control.keys.get({ path: { keyId: keyId as string } })
  await expect(call()).rejects.toBeInstanceOf(RideauError)
})

test('every operation is a method', () => {
  const methods = Object.entries(control).flatMap(([resource, verbs]) =>
    Object.entries(verbs).map(([verb, method]) => [`${resource}.${verb}`, typeof method]),
  )
  const expected = CONTROL_OPERATIONS.map(([id]) => [id, 'function'])
  expect(methods.sort()).toEqual(expected.sort())
})
