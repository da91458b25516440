import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MAX_SAVED_VIEWS } from '../../storage/tenancy/saved-views.ts'
import { type ControlPlane, openControlPlane, type Tenant } from '../../testing/harness/control-plane.ts'

let plane: ControlPlane
let tenant: Tenant
beforeAll(async () => {
  plane = await openControlPlane()
  tenant = await plane.insertTenant('views')
})
afterAll(() => plane.close())

const view = (change: object = {}) => ({
  environment_id: tenant.production.id,
  page: 'logs',
  name: 'Failures',
  search: 'status=5xx&range=7d',
  ...change,
})
const put = (id: string, body: object, who = tenant.people.viewer) =>
  plane.call<any>('PUT', `/v1/session/views/${id}`, { cookie: who.cookie, body })
const list = async (who = tenant.people.viewer, environment = tenant.production) => {
  const path = `/v1/session/views?environment_id=${environment.id}`
  return (await plane.call<any>('GET', path, { cookie: who.cookie })).json.data
}

test('a view is saved, replaced, listed by name for its user alone, and removed', async () => {
  const id = randomUUID()
  const made = await put(id, view())
  expect(made.outcome).toBe('200')
  expect(made.json).toEqual({
    id,
    ...view(),
    created_at: expect.any(String),
    updated_at: expect.any(String),
  })
  await put(randomUUID(), view({ name: 'All' }))
  await put(id, view({ name: 'Broken', search: '' }))
  expect((await list()).map((row: any) => [row.name, row.search])).toEqual([
    ['All', 'status=5xx&range=7d'],
    ['Broken', ''],
  ])
  expect(await list(tenant.people.owner)).toEqual([])
  expect(await list(tenant.people.viewer, tenant.development)).toEqual([])
  const path = `/v1/session/views/${id}`
  await plane.call('DELETE', path, { cookie: tenant.people.owner.cookie })
  expect(await list()).toHaveLength(2)
  expect((await plane.call('DELETE', path, { cookie: tenant.people.viewer.cookie })).outcome).toBe('204')
  expect((await list()).map((row: any) => row.name)).toEqual(['All'])
})

test('two users may choose the same id', async () => {
  const id = randomUUID()
  await put(id, view({ name: 'mine' }))
  await put(id, view({ name: 'theirs' }), tenant.people.admin)
  expect((await list(tenant.people.admin)).map((row: any) => row.name)).toEqual(['theirs'])
  expect((await list()).map((row: any) => row.name)).toContain('mine')
})

test('an environment of another organization does not exist, and a management key has no views', async () => {
  const other = await plane.insertTenant('foreign')
  const foreign = view({ environment_id: other.production.id })
  expect((await put(randomUUID(), foreign)).outcome).toBe('404 resource_not_found')
  expect(await list(other.people.viewer)).toEqual([])
  const path = `/v1/session/views?environment_id=${tenant.production.id}`
  expect((await plane.call('GET', path, { key: tenant.keys.admin })).outcome).toBe('403 insufficient_role')
})

test.each([
  [{ page: 'secrets' }, 'page'],
  [{ name: '' }, 'name'],
  [{ search: 'a b' }, 'search'],
  [{ search: 'x'.repeat(2001) }, 'search'],
])('400 for %j', async (change, param) => {
  expect((await put(randomUUID(), view(change))).outcome).toBe(`400 invalid_request ${param}`)
})

test('views are listed in pages by limit and cursor, without repeating or missing one when others change', async () => {
  const user = tenant.people.owner
  const ids = ['A', 'B', 'C', 'D', 'E'].map(name => ({ name, id: randomUUID() }))
  for (const { name, id } of ids) await put(id, view({ name }), user)
  const page = async (query: string) => {
    const path = `/v1/session/views?environment_id=${tenant.production.id}&${query}`
    const { json, outcome } = await plane.call<any>('GET', path, { cookie: user.cookie })
    return {
      outcome,
      names: json.data?.map(({ name }: { name: string }) => name),
      cursor: json.next_cursor,
      more: json.has_more,
    }
  }
  const first = await page('limit=2')
  expect(first).toMatchObject({ names: ['A', 'B'], more: true })
  expect(await page(`cursor=${first.cursor}`)).toMatchObject({
    names: ['C', 'D', 'E'],
    more: false,
    cursor: null,
  })
  for (const name of ['Aa', 'Ab']) await put(randomUUID(), view({ name }), user)
  await plane.call('DELETE', `/v1/session/views/${ids[0]?.id}`, { cookie: user.cookie })
  const second = await page(`limit=2&cursor=${first.cursor}`)
  expect(second.names).toEqual(['C', 'D'])
  await plane.call('DELETE', `/v1/session/views/${ids[3]?.id}`, { cookie: user.cookie })
  expect(await page(`limit=2&cursor=${second.cursor}`)).toMatchObject({
    names: ['E'],
    more: false,
    cursor: null,
  })
  const elsewhere = `/v1/session/views?cursor=${first.cursor}`
  expect((await plane.call('GET', elsewhere, { cookie: user.cookie })).outcome).toBe(
    '400 invalid_request cursor',
  )
  expect((await page('limit=101')).outcome).toBe('400 request_validation_failed limit')
})

test('a user has a bounded number of them, also by calls at once', async () => {
  const user = tenant.people.developer
  const save = () => put(randomUUID(), view(), user)
  for (let count = 0; count < MAX_SAVED_VIEWS - 5; count += 5) await Promise.all([1, 2, 3, 4, 5].map(save))
  const outcomes = await Promise.all(Array.from({ length: 10 }, save))
  expect(outcomes.filter(({ outcome }) => outcome === '200')).toHaveLength(5)
  expect(outcomes.filter(({ outcome }) => outcome === '409 resource_conflict')).toHaveLength(5)
})
