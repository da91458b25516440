import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { messageItem, responseOf, streamedResponseOf } from '../../testing/fakes/scripted-responses.ts'
import {
  json,
  openScriptedUpstream,
  type ScriptedUpstream,
  type UpstreamAnswer,
} from '../../testing/fakes/scripted-upstream.ts'
import { openTestApp, TEST_OVERRIDES, type TestApp } from '../../testing/harness/app.ts'
import { replaceProperty } from '../../testing/harness/replace-property.ts'
import type { GatewayDeps } from '../deps.ts'
import { Circuits } from './circuits.ts'

const KEYS = ['sk-1', 'sk-2', 'sk-3', 'sk-4', 'sk-5']
const MODEL = 'openai/gpt-5'
const HELD = responseOf(messageItem('as before'))
const UNKNOWN_RESPONSE = json(400, {
  error: {
    message: "Previous response with id 'resp_1' not found.",
    type: 'invalid_request_error',
    param: 'previous_response_id',
    code: 'previous_response_not_found',
  },
})
const invalid = (status: number, message: string): UpstreamAnswer =>
  json(status, { error: { message, type: 'invalid_request_error', param: null, code: null } })

let app: TestApp
let deps: GatewayDeps
let upstream: ScriptedUpstream
beforeAll(async () => {
  app = await openTestApp({}, { ...TEST_OVERRIDES, onDeps: made => void (deps = made) })
  upstream = await openScriptedUpstream()
  for (const key of KEYS)
    await app.addCredential('openai', { name: key, api_key: key, base_url: upstream.baseUrl })
})
afterAll(async () => {
  await upstream.close()
  await app.close()
})
beforeEach(() => {
  replaceProperty(deps, 'circuits', () => new Circuits({ now: Date.now, onChange: () => {} }))
})

const toKey = (authorization = ''): string => authorization.replace('Bearer ', '')

/** Each key answers as scripted, all others as `other`. */
function script(byKey: Record<string, UpstreamAnswer>, other: UpstreamAnswer): void {
  upstream.script((res, seen) => (byKey[toKey(seen.headers.authorization)] ?? other)(res, seen))
}

async function call(body: Record<string, unknown>) {
  const before = upstream.requests.length
  const headers = { 'x-rideau-end-user': 'ann' }
  const response = await app.call(
    '/openai/v1/responses',
    { model: MODEL, input: 'And now?', ...body },
    { headers },
  )
  const text = await response.text()
  const keys = upstream.requests.slice(before).map(seen => toKey(seen.headers.authorization))
  return { status: response.status, text, keys }
}

const STATE = { previous_response_id: 'resp_1' }

/** Returns the order in which the keys are attempted for the end user. */
async function findOrder(): Promise<string[]> {
  upstream.script(UNKNOWN_RESPONSE)
  return (await call(STATE)).keys
}

describe('a request that refers to what another account stores', () => {
  test.each([
    ['a response', STATE, UNKNOWN_RESPONSE],
    ['a conversation', { conversation: 'conv_1' }, invalid(404, "Conversation with id 'conv_1' not found.")],
    [
      'an item',
      { input: [{ type: 'item_reference', id: 'msg_1' }] },
      invalid(404, "Item with id 'msg_1' not found."),
    ],
    [
      'reasoning',
      { input: [{ type: 'item_reference', id: 'rs_1' }] },
      invalid(400, "Item 'rs_1' does not exist."),
    ],
    [
      'a file',
      { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file-1' }] }] },
      invalid(400, 'No such file object: file-1'),
    ],
  ])('is answered by the credential of that account: %s', async (_, body, unknown) => {
    const owner = (await findOrder()).at(-1) ?? ''
    script({ [owner]: HELD }, unknown)
    const { status, keys } = await call(body)
    expect([status, keys.length, new Set(keys).size, keys.at(-1)]).toEqual([200, 5, 5, owner])
  })

  test('is answered by that account as a stream too', async () => {
    const owner = (await findOrder()).at(-1) ?? ''
    script({ [owner]: streamedResponseOf(messageItem('as before')) }, UNKNOWN_RESPONSE)
    const { status, text } = await call({ ...STATE, stream: true })
    expect(status).toBe(200)
    expect(text).toContain('before')
  })

  test('gets the refusal of the provider once every credential was called once', async () => {
    const keys = await findOrder()
    expect(new Set(keys)).toEqual(new Set(KEYS))
    upstream.script(UNKNOWN_RESPONSE)
    const { status, text } = await call(STATE)
    expect(status).toBe(400)
    expect(text).toContain("Previous response with id 'resp_1' not found.")
  })

  test('marks no credential as rejected and lets none rest', async () => {
    await findOrder()
    const { body } = await app.manage('GET', `/v1/environments/${app.developmentId}/provider-credentials`)
    for (const { id, validation_error: error } of body.data) {
      expect(error ?? '').not.toContain('rejected')
      expect(deps.circuits.find(id, 'gpt-5')).toBeUndefined()
    }
  })

  test('calls the account that rests, which may be the one, once all others refused it', async () => {
    const [owner = '', ...others] = await findOrder()
    script({ [owner]: json(429, {}, { 'retry-after': '30' }) }, UNKNOWN_RESPONSE)
    // The refusals of others do not hide that the account may answer later.
    expect((await call(STATE)).status).toBe(503)
    script({ [owner]: HELD }, UNKNOWN_RESPONSE)
    const { status, keys } = await call(STATE)
    expect([status, keys]).toEqual([200, [...others, owner]])
  })
})

test('a request with all its input is not called again after 404 or a refusal that names an item', async () => {
  for (const answer of [invalid(404, 'Not found.'), invalid(400, 'Item 1 of the input was not found.')]) {
    upstream.script(answer)
    const { status, keys } = await call({})
    expect(status).toBeGreaterThanOrEqual(400)
    expect(keys).toHaveLength(1)
  }
})

test('a request with state is not called again after any other refusal', async () => {
  upstream.script(invalid(400, "Invalid type for 'temperature': expected a decimal."))
  const { status, keys } = await call(STATE)
  expect([status, keys.length]).toEqual([400, 1])
})
