import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type LimitedApp, openLimitedApp, PRICED_CHAT } from '../../testing/harness/limited-app.ts'

// A rule of a key binds the keys that replace it too, and counts the requests of all of them together.

let limited: LimitedApp
beforeAll(async () => {
  limited = await openLimitedApp()
})
afterAll(() => limited.close())
beforeEach(() => limited.reset())

interface NewKey {
  readonly id: string
  readonly key: string
}

const createKey = (): Promise<NewKey> => limited.app.createKey({})

const roll = async (key: NewKey): Promise<NewKey> => {
  const { status, body } = await limited.app.manage('POST', `/v1/keys/${key.id}/roll`, {})
  expect(status).toBe(201)
  return body
}

async function answer({
  key,
}: NewKey): Promise<{ status: number; error?: { code: string; message: string } }> {
  const response = await limited.app.call('/v1/chat', PRICED_CHAT, { key })
  return { status: response.status, ...((await response.json()) as object) }
}

async function ask(key: NewKey): Promise<string> {
  const { status, error } = await answer(key)
  return error === undefined ? String(status) : `${status} ${error.code}`
}

test('a budget goes to the replacement with what was spent, and binds both', async () => {
  const first = await createKey()
  await limited.limit('budgets', { limit_usd: 0.1, window: 'total', scope: 'key', scope_ref: first.id })
  expect(await ask(first)).toBe('200')
  const second = await roll(first)
  expect(await ask(second)).toBe('200')
  expect([await ask(first), await ask(second)]).toEqual(['402 budget_exceeded', '402 budget_exceeded'])
  const third = await roll(second)
  expect(await ask(third)).toBe('402 budget_exceeded')
  const budgets = await limited.list('budgets')
  expect(budgets).toMatchObject([{ scope: 'key', scope_ref: third.id, spent_usd: 0.1, reserved_usd: 0 }])
  expect(await ask(await createKey())).toBe('200')
})

test('a rate limit counts the requests of both keys together', async () => {
  const first = await createKey()
  await limited.limit('limits', {
    scope: 'key',
    scope_ref: first.id,
    metric: 'requests',
    limit: 2,
    window_seconds: 3600,
  })
  const second = await roll(first)
  expect([await ask(first), await ask(second), await ask(first), await ask(second)]).toEqual([
    '200',
    '200',
    '429 rate_limit_exceeded',
    '429 rate_limit_exceeded',
  ])
})

test('a rule for either key binds both, and knows what they used before', async () => {
  const first = await createKey()
  expect(await ask(first)).toBe('200')
  const second = await roll(first)
  expect(await ask(second)).toBe('200')
  const quota = { scope: 'key', metric: 'requests', window: 'month' }
  await limited.limit('quotas', { ...quota, scope_ref: second.id, limit: 3 })
  await limited.limit('quotas', { ...quota, scope_ref: first.id, limit: 4 })
  const used = async () => (await limited.list('quotas')).map(({ limit, used }) => [limit, used])
  await expect.poll(used).toEqual([
    [4, 2],
    [3, 2],
  ])
  expect([await ask(first), await ask(second)]).toEqual(['200', '429 quota_exceeded'])
  for (const { id } of [first, second]) {
    const { body } = await limited.app.manage('GET', `/v1/keys/${id}/effective-limits`)
    expect(body.data).toMatchObject([
      { kind: 'quota', limit: 3, used: 3 },
      { kind: 'quota', limit: 4, used: 3 },
    ])
  }
})

test('a limit that is tried on the past reads the requests of both keys', async () => {
  const first = await createKey()
  const second = await roll(first)
  expect([await ask(first), await ask(second)]).toEqual(['200', '200'])
  const route = `/v1/environments/${limited.app.developmentId}/limits/preview`
  const rule = { scope: 'key', scope_ref: second.id, metric: 'requests', limit: 1, window: 'month' }
  const preview = async () => (await limited.app.manage('POST', route, rule)).body
  await expect.poll(preview).toMatchObject({ requests: 2, refused: 1 })
})

test('a rule that was made for a key that was replaced before goes to the newest too', async () => {
  const first = await createKey()
  const second = await roll(first)
  const bound = { window: 'month', scope: 'key' }
  await limited.limit('budgets', { limit_usd: 1, ...bound, scope_ref: first.id })
  await limited.limit('budgets', { limit_usd: 2, ...bound, scope_ref: second.id })
  const third = await roll(second)
  const refs = (await limited.list('budgets')).map(({ scope_ref }) => scope_ref)
  expect(refs).toEqual([third.id, third.id])
})

test('the rules of the organization go along', async () => {
  const { app } = limited
  const first = await createKey()
  const second = await roll(first)
  const bound = { scope: 'key', scope_ref: first.id }
  const rules = [
    ['limits', { ...bound, metric: 'requests', limit: 3, window_seconds: 3600 }],
    ['budgets', { ...bound, limit_usd: 0.1, window: 'month' }],
  ] as const
  const made: [string, string][] = []
  for (const [kind, body] of rules) {
    made.push([kind, (await limited.make(`/v1/orgs/${app.orgId}/${kind}`, body)).id])
  }
  expect([await ask(first), await ask(second)]).toEqual(['200', '200'])
  const third = await roll(second)
  expect(await ask(third)).toBe('402 budget_exceeded')
  for (const [kind, id] of made) {
    const { body } = await app.manage('GET', `/v1/orgs/${app.orgId}/${kind}`)
    expect(body.data).toMatchObject([{ id, scope_ref: third.id }])
    expect((await app.manage('DELETE', `/v1/${kind}/${id}`)).status).toBe(204)
  }
})

test('a refusal names the key of the caller', async () => {
  const first = await createKey()
  await limited.limit('budgets', { limit_usd: 0, window: 'month', scope: 'key', scope_ref: first.id })
  const second = await roll(first)
  expect((await answer(second)).error?.message).toContain(`for the key ${second.id} is reached`)
})

test('a client token of the old key is bound by what the new key has left', async () => {
  const first = await createKey()
  await limited.limit('budgets', { limit_usd: 0.05, window: 'month', scope: 'key', scope_ref: first.id })
  const minted = await limited.app.call(
    '/v1/client-tokens',
    { end_user: { id: 'ada' }, scopes: ['ai.chat'] },
    { key: first.key },
  )
  const { token } = (await minted.json()) as { token: string }
  expect([minted.status, typeof token]).toEqual([201, 'string'])
  expect(await ask(await roll(first))).toBe('200')
  expect(await ask({ id: '', key: token })).toBe('402 budget_exceeded')
})

test('50 rules of the same kind bind both keys, not 50 of each', async () => {
  const first = await createKey()
  const second = await roll(first)
  const rule = { scope: 'key', metric: 'requests', window: 'month', limit: 1_000 }
  for (let at = 0; at < 25; at++) {
    for (const { id } of [first, second]) await limited.limit('quotas', { ...rule, scope_ref: id })
  }
  const route = `/v1/environments/${limited.app.developmentId}/quotas`
  for (const { id } of [first, second]) {
    const { status, body } = await limited.app.manage('POST', route, { ...rule, scope_ref: id })
    expect([status, body.error.code, body.error.param]).toEqual([409, 'resource_conflict', 'scope'])
  }
})
