import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  completion,
  json,
  openScriptedUpstream,
  type ScriptedUpstream,
  type UpstreamAnswer,
} from '../../testing/fakes/scripted-upstream.ts'
import { openTestApp, TEST_OVERRIDES, type TestApp } from '../../testing/harness/app.ts'
import { replaceProperty } from '../../testing/harness/replace-property.ts'
import type { GatewayDeps } from '../deps.ts'
import { Circuits } from './circuits.ts'

const POOL = 'custom-pool/m'
/** Has sk-one, and sk-two in case that it fails. */
const PAIR = 'custom-pair/m'
const SIZE = 8
const ids = new Map<string, string>()

let app: TestApp
let deps: GatewayDeps
let upstream: ScriptedUpstream
/** The clock of the circuits. */
let now = Date.now()
beforeAll(async () => {
  app = await openTestApp({}, { ...TEST_OVERRIDES, onDeps: made => void (deps = made) })
  upstream = await openScriptedUpstream()
  for (let n = 1; n <= SIZE; n++) {
    const fields = { name: `${n}`, api_key: `sk-${n}`, base_url: upstream.baseUrl }
    ids.set(`sk-${n}`, await app.addCredential('custom-pool', fields))
  }
  const one = { name: 'one', api_key: 'sk-one', base_url: upstream.baseUrl }
  ids.set('sk-one', await app.addCredential('custom-pair', one))
  const spare = { name: 'two', api_key: 'sk-two', base_url: upstream.baseUrl, weight: 0 }
  await app.addCredential('custom-pair', spare)
  await app.addCredential('custom-single', { api_key: 'sk-single', base_url: upstream.baseUrl })
})
afterAll(async () => {
  await upstream.close()
  await app.close()
})
beforeEach(() => {
  replaceProperty(deps, 'circuits', () => new Circuits({ now: () => now, onChange: () => {} }))
})

const toKey = (authorization = ''): string => authorization.replace('Bearer ', '')

/** Lets these keys get another answer than all others. */
function scriptKeys(keys: readonly string[], answer: UpstreamAnswer): void {
  upstream.script((res, seen) =>
    (keys.includes(toKey(seen.headers.authorization)) ? answer : completion('hello'))(res, seen),
  )
}

/** Calls as an end user, and returns the keys that reached the upstream too. */
async function call(user: string | undefined, model = POOL) {
  const before = upstream.requests.length
  const headers: Record<string, string> = user === undefined ? {} : { 'x-rideau-end-user': user }
  const messages = [{ role: 'user', content: 'Say hello.' }]
  const response = await app.call('/v1/chat', { model, messages }, { headers })
  await response.text()
  const keys = upstream.requests.slice(before).map(seen => toKey(seen.headers.authorization))
  return { status: response.status, keys }
}

/** Returns the order in which the keys of the pool are attempted for an end user. */
async function orderOf(user: string): Promise<string[]> {
  upstream.script(json(401, {}))
  const { keys } = await call(user)
  replaceProperty(deps, 'circuits', () => new Circuits({ now: () => now, onChange: () => {} }))
  return keys
}

const USERS = Array.from({ length: 16 }, (_, n) => `user-${n}`)

describe('a pool with dead credentials', () => {
  test.each([
    ['revoked', json(401, { error: { message: 'Incorrect API key provided' } })],
    ['without credit (402)', json(402, { error: { message: 'Insufficient Balance' } })],
    ['without credit (429)', json(429, { error: { code: 'insufficient_quota' } })],
    ['forbidden', json(403, { error: { message: 'forbidden' } })],
  ])('%s serves every end user while one credential lives', async (_, answer) => {
    const dead = (await orderOf('ann')).slice(0, SIZE - 1)
    scriptKeys(dead, answer)
    const { status, keys } = await call('ann')
    expect(status).toBe(200)
    expect(keys).toHaveLength(SIZE)
    for (const user of USERS) expect((await call(user)).status).toBe(200)
    // Others were refused too by now, so that not even a 403 may be for what one of them sends.
    for (const user of USERS) expect((await call(user)).keys).toHaveLength(1)
  })

  test('attempts a dead credential once a minute, and uses it again once it works', async () => {
    const [own = ''] = await orderOf('ann')
    scriptKeys([own], json(401, {}))
    expect((await call('ann')).keys).toHaveLength(2)
    for (let n = 0; n < 5; n++) expect((await call('ann')).keys).not.toContain(own)
    now += 60_000
    expect((await call('ann')).keys).toHaveLength(2)
    now += 60_000
    upstream.script(completion('repaired'))
    expect((await call('ann')).keys).toEqual([own])
  })

  test('uses a credential at once that was changed', async () => {
    const [own = ''] = await orderOf('ann')
    scriptKeys([own], json(401, {}))
    await call('ann')
    expect((await call('ann')).keys).not.toContain(own)
    const path = `/v1/provider-credentials/${ids.get(own)}`
    expect((await app.manage('PATCH', path, { api_key: 'sk-new' })).status).toBe(200)
    expect((await call('ann')).keys).toEqual(['sk-new'])
    await app.manage('PATCH', path, { api_key: own })
  })

  test('fails after three attempts more than eight refusals', async () => {
    for (let n = SIZE + 1; n <= 14; n++)
      await app.addCredential('custom-pool', {
        name: `${n}`,
        api_key: `sk-${n}`,
        base_url: upstream.baseUrl,
      })
    upstream.script(json(401, {}))
    const { status, keys } = await call('ann')
    expect([status, new Set(keys).size, keys.length]).toEqual([502, 11, 11])
  })
})

test('credentials that all rest are called, and by the first success no longer rest', async () => {
  upstream.script(json(401, {}))
  expect((await call('ann', PAIR)).status).toBe(502)
  const admission = () => deps.circuits.find(ids.get('sk-one') ?? '', 'm')?.admission(now)
  expect(admission()).not.toBe('admitted')
  upstream.script(completion('hello'))
  expect(await call('ann', PAIR)).toEqual({ status: 200, keys: ['sk-one'] })
  expect(admission()).toBe('admitted')
})

test('the only credential of a target is called by each request, whatever its last answer was', async () => {
  const alias = 'single-then-pair'
  const targets = [{ model: 'custom-single/m' }, { model: PAIR }]
  await app.manage('POST', `/v1/environments/${app.developmentId}/model-aliases`, {
    ...{ alias, strategy: 'priority', targets },
  })
  for (const status of [401, 402, 429]) {
    scriptKeys(['sk-single'], json(status, {}))
    for (let n = 0; n < 2; n++) expect((await call('ann', alias)).keys).toEqual(['sk-single', 'sk-one'])
  }
  upstream.script(completion('hello'))
  expect((await call('ann', alias)).keys).toEqual(['sk-single'])
})

describe('a credential beside another one', () => {
  test('is passed over while it is refused', async () => {
    scriptKeys(['sk-one'], json(401, {}))
    expect((await call('ann', PAIR)).keys).toEqual(['sk-one', 'sk-two'])
    expect((await call('ben', PAIR)).keys).toEqual(['sk-two'])
  })

  test.each([402, 403])('is called for others while the requests of one end user get %i', async status => {
    scriptKeys(['sk-one'], json(status, {}))
    for (let n = 0; n < 5; n++) expect((await call('mallory', PAIR)).keys).toEqual(['sk-one', 'sk-two'])
    upstream.script(completion('hello'))
    expect((await call('ann', PAIR)).keys).toEqual(['sk-one'])
    // A success between shows that the refusals are of requests.
    scriptKeys(['sk-one'], json(status, {}))
    expect((await call('ben', PAIR)).keys).toEqual(['sk-one', 'sk-two'])
    expect((await call('ben', PAIR)).keys).toEqual(['sk-one', 'sk-two'])
    expect((await call('ann', PAIR)).keys).toEqual(['sk-one', 'sk-two'])
    expect((await call('eve', PAIR)).keys).toEqual(['sk-two'])
  })

  test('is passed over for three seconds after a 429 without Retry-After', async () => {
    scriptKeys(['sk-one'], json(429, {}))
    expect((await call('ann', PAIR)).keys).toEqual(['sk-one', 'sk-two'])
    upstream.script(completion('hello'))
    expect((await call('ann', PAIR)).keys).toEqual(['sk-two'])
    now += 3_000
    expect((await call('ann', PAIR)).keys).toEqual(['sk-one'])
  })

  test('is called after a 429 for a request that is too large for the limit', async () => {
    const message = 'Request too large for m on tokens per min (TPM): Limit 30000, Requested 50000.'
    scriptKeys(['sk-one'], json(429, { error: { message } }))
    expect((await call('mallory', PAIR)).keys).toEqual(['sk-one', 'sk-two'])
    upstream.script(completion('hello'))
    expect((await call('ann', PAIR)).keys).toEqual(['sk-one'])
  })
})
