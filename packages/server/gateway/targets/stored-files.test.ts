import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  completion,
  openScriptedUpstream,
  type ScriptedUpstream,
} from '../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../testing/harness/app.ts'

let app: TestApp
let upstream: ScriptedUpstream
/** An end user's token, made by the playground. */
let token: string

beforeAll(async () => {
  app = await openTestApp()
  upstream = await openScriptedUpstream()
  await app.addCredential('openai', { api_key: 'k', base_url: upstream.baseUrl })
  upstream.script(completion('Read.'))
  token = (await app.manage('POST', `/v1/environments/${app.developmentId}/playground-token`, {})).body.token
})
afterAll(async () => {
  await upstream.close()
  await app.close()
})

const STORED = { type: 'file', file_id: 'file_of_others' }
const CHAT_PATH = 'messages[0].content[0].file.file_id'

test.each([
  ['/v1/chat', { type: 'file', file: { file_id: 'file_of_others' } }, CHAT_PATH],
  ['/openai/v1/chat/completions', { type: 'file', file: STORED }, CHAT_PATH],
  ['/anthropic/v1/messages', { type: 'document', source: STORED }, 'messages[0].content[0].source.file_id'],
])('%s: refuses an end user any file stored at a provider', async (route, part, path) => {
  const messages = [{ role: 'user', content: [part] }]
  const body = { model: 'openai/gpt-4o-mini', max_tokens: 9, messages }
  const before = upstream.requests.length
  const response = await app.call(route, body, { key: token })
  expect(response.status).toBe(400)
  expect(JSON.stringify(await response.json())).toContain(path)
  expect(upstream.requests).toHaveLength(before)
})

test('accepts a file stored at a provider from a secret key', async () => {
  const part = { type: 'file', file: { file_id: 'file_of_ours' } }
  const body = { model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content: [part] }] }
  expect((await app.call('/openai/v1/chat/completions', body)).status).toBe(200)
  expect(upstream.requests.at(-1)?.body.messages).toEqual(body.messages)
})
