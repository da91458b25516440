import { decodeJwt } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openTestApp, TEST_OVERRIDES, type TestApp } from '../../testing/harness/app.ts'
import { shorten } from '../../testing/harness/device-app.ts'
import { replaceProperty } from '../../testing/harness/replace-property.ts'
import type { GatewayDeps } from '../deps.ts'

// Chats are what the plan `chats` of the end user's record allows, and `images`, which is the default or named, does not.

let app: TestApp
let deps: GatewayDeps
let plans: string
let endUsers: string
beforeAll(async () => {
  app = await openTestApp({}, { ...TEST_OVERRIDES, onDeps: made => (deps = made) })
  plans = `/v1/environments/${app.developmentId}/plans`
  endUsers = `/v1/environments/${app.developmentId}/end-users`
  await app.manage('POST', plans, { name: 'images', scopes: ['ai.images'], is_default: true })
  await app.manage('POST', plans, { name: 'chats', scopes: ['ai.chat'] })
  await app.manage('POST', plans, { name: 'both', scopes: ['ai.chat', 'ai.images'] })
})
afterAll(() => app.close())

let name: string
let id: string
beforeEach(async () => {
  name = deps.newId()
  id = (await app.manage('POST', endUsers, { external_id: name, plan: 'chats' })).body.id
})

async function mint(plan?: string): Promise<string> {
  const body = { end_user: { id: name, plan }, scopes: ['ai.chat', 'ai.images'] }
  const response = await app.call('/v1/client-tokens', body, {})
  return ((await response.json()) as { token: string }).token
}

async function chat(key: string): Promise<string> {
  const body = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'hi' }] }
  const response = await app.call('/v1/chat', body, { key })
  return shorten({ status: response.status, body: await response.json() })
}

const REFUSED = '403 endpoint_not_allowed'

describe.each<[string, () => Promise<unknown>]>([
  ['is deleted', () => app.manage('DELETE', `/v1/end-users/${id}`)],
  [
    'gets another external id',
    () => app.manage('PATCH', `/v1/end-users/${id}`, { external_id: `${name}-b` }),
  ],
  ['loses its plan', () => app.manage('PATCH', `/v1/end-users/${id}`, { plan: null })],
])('when the record of an end user %s', (_, change) => {
  test('its live tokens have the default plan at once', async () => {
    const token = await mint()
    expect(decodeJwt(token)).toMatchObject({ plan: 'chats', named_plan: null })
    expect(await chat(token)).toBe('200')
    await change()
    expect(await chat(token)).toBe(REFUSED)
  })

  test('its live tokens have the plan that the backend named', async () => {
    const [refused, allowed] = [await mint('images'), await mint('both')]
    expect(decodeJwt(allowed)).toMatchObject({ plan: 'chats', named_plan: 'both' })
    expect([await chat(refused), await chat(allowed)]).toEqual(['200', '200'])
    await change()
    expect([await chat(refused), await chat(allowed)]).toEqual([REFUSED, '200'])
  })

  test('while a token is made, the token does not have the plan', async () => {
    const restore = replaceProperty(deps, 'getSigner', getSigner => async () => {
      await change()
      return await getSigner()
    })
    const token = await mint().finally(restore)
    expect(decodeJwt(token).plan).toBe('chats')
    expect(await chat(token)).toBe(REFUSED)
  })
})

test('a plan that the backend names counts where the record has none, until the record gets one', async () => {
  await app.manage('PATCH', `/v1/end-users/${id}`, { plan: null })
  const token = await mint('both')
  expect(decodeJwt(token)).toMatchObject({ plan: 'both' })
  expect(decodeJwt(token)).not.toHaveProperty('named_plan')
  expect(await chat(token)).toBe('200')
  await app.manage('PATCH', `/v1/end-users/${id}`, { plan: 'images' })
  expect(await chat(token)).toBe(REFUSED)
  await app.manage('PATCH', `/v1/end-users/${id}`, { plan: null })
  expect(await chat(token)).toBe('200')
})
