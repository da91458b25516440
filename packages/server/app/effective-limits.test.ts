import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../testing/harness/app.ts'

let app: TestApp
let keyId: string
let key: string
beforeAll(async () => {
  app = await openTestApp()
  ;({ id: keyId, key } = await app.createKey({ name: 'bound', kind: 'secret' }))
  const inEnvironment = `/v1/environments/${app.developmentId}`
  const create = async (path: string, body: object) => {
    const { status } = await app.manage('POST', path, body)
    if (status !== 201) throw new Error(`${path}: ${status}`)
  }
  const requests = { metric: 'requests', limit: 100 }
  await create(`/v1/orgs/${app.orgId}/limits`, { scope: 'project', scope_ref: app.projectId, ...requests })
  await create(`${inEnvironment}/limits`, { scope: 'environment', metric: 'concurrency', limit: 7 })
  await create(`${inEnvironment}/limits`, { scope: 'default_end_user', ...requests })
  await create(`${inEnvironment}/quotas`, { scope: 'key', scope_ref: keyId, window: 'day', ...requests })
  await create(`/v1/orgs/${app.orgId}/budgets`, { limit_usd: 5, window: 'month' })
  await create(`/v1/projects/${app.projectId}/budgets`, { limit_usd: 5, window: 'total' })
  await create(`${inEnvironment}/plans`, { name: 'free', is_default: true, tokens_per_day: 10_000 })
  const body = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'hello' }], user: 'ann' }
  const headers = { 'X-Rideau-End-User': 'ann' }
  const answer = await app.call('/v1/chat', body, { key, headers })
  await app.findLog(answer.headers.get('x-request-id') ?? '')
})
afterAll(() => app.close())

interface Rule {
  kind: string
  scope: string
  metric: string
  window: string | null
  window_seconds: number | null
  used: number | null
  limit: number
}
const show = (rules: Rule[]) =>
  rules.map(({ kind, scope, metric, window, window_seconds, used }) => [
    kind,
    scope,
    metric,
    window ?? window_seconds,
    metric === 'requests' || metric === 'concurrency' ? used : typeof used,
  ])

const WHOLE = [
  ['limit', 'project', 'requests', 60, 1],
  ['limit', 'environment', 'concurrency', null, 0],
]
const BUDGETS = [
  ['budget', 'org', 'usd', 'month', 'number'],
  ['budget', 'project', 'usd', 'total', 'number'],
]

test('a key shows every rule above it, with what its requests used', async () => {
  const { status, body } = await app.manage('GET', `/v1/keys/${keyId}/effective-limits`)
  expect(status).toBe(200)
  expect(show(body.data)).toEqual([...WHOLE, ['quota', 'key', 'requests', 'day', 1], ...BUDGETS])
  expect(body.plan).toBeNull()
  const [ofOrganization, ofProject] = body.data.slice(-2)
  // The sandbox's prices count for the project alone.
  expect([ofOrganization.used, ofOrganization.excludes_sandbox]).toEqual([0, true])
  expect(ofProject.used).toBeGreaterThan(0)
  expect(ofProject).toMatchObject({ limit: 5, error_code: 'budget_exceeded', resets_at: null })
})

test('an end user shows its own rules and its plan', async () => {
  const found = await app.manage('GET', `/v1/environments/${app.developmentId}/end-users?external_id=ann`)
  const { body } = await app.manage('GET', `/v1/end-users/${found.body.data[0].id}/effective-limits`)
  expect(show(body.data)).toEqual([
    ...WHOLE,
    ['limit', 'end_user', 'requests', 60, 1],
    ...BUDGETS,
    ['plan', 'end_user', 'tokens', 'day', 'number'],
  ])
  expect(body.plan).toBe('free')
})

test('both lists come in pages by limit and cursor, in the order of the whole list', async () => {
  const found = await app.manage('GET', `/v1/environments/${app.developmentId}/end-users?external_id=ann`)
  for (const owner of [`/v1/keys/${keyId}`, `/v1/end-users/${found.body.data[0].id}`]) {
    const path = `${owner}/effective-limits`
    const whole = (await app.manage('GET', path)).body
    const pages: Rule[] = []
    for (let query = '?limit=2'; query !== ''; ) {
      const { body } = await app.manage('GET', path + query)
      expect(body).toMatchObject({ plan: whole.plan, note: whole.note, has_more: body.next_cursor !== null })
      expect(body.data.length).toBeLessThanOrEqual(2)
      pages.push(...body.data)
      query = body.next_cursor === null ? '' : `?limit=2&cursor=${body.next_cursor}`
    }
    expect(pages).toEqual(whole.data)
  }
})

test('a limit tells what is used of it, but not one that each end user has', async () => {
  const ofOrganization = await app.manage('GET', `/v1/orgs/${app.orgId}/limits`)
  expect(ofOrganization.body.data).toMatchObject([{ scope: 'project', used: 1, reserved: 0 }])
  const { body } = await app.manage('GET', `/v1/environments/${app.developmentId}/limits`)
  expect(body.data).toMatchObject([
    { scope: 'default_end_user', used: null, reserved: null },
    { metric: 'concurrency', used: 0, reserved: 0 },
  ])
})
