import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { json, openScriptedUpstream, type ScriptedUpstream } from '../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../testing/harness/app.ts'

const API_KEY = 'canary-of-the-tenant'
const MESSAGE = "Unsupported value: 'temperature' does not support 0.7 with this model."
const MODEL = 'openai/gpt-4o-mini'
const messages = [{ role: 'user', content: 'hi' }]

let app: TestApp
let upstream: ScriptedUpstream
beforeAll(async () => {
  app = await openTestApp()
  upstream = await openScriptedUpstream()
  await app.addCredential('openai', { api_key: API_KEY, base_url: upstream.baseUrl })
})
afterAll(async () => {
  await upstream.close()
  await app.close()
})

const refuse = (message: unknown = MESSAGE, status = 400, more: object = {}) =>
  upstream.script(json(status, { error: { message, type: 'invalid_request_error', ...more } }))
const ask = async (key = app.secretKey, path = '/v1/chat', body: object = {}): Promise<any> => {
  const response = await app.call(path, { model: MODEL, messages, ...body }, { key })
  const answer: any = await response.json()
  return { answer, error: answer.error, id: response.headers.get('x-request-id') }
}
const logged = async (id: string): Promise<unknown> => (await app.findLog(id)).provider_message

test('a secret key gets it beside the message of the gateway, and its log record has it', async () => {
  refuse()
  const { error, id } = await ask()
  expect(error).toMatchObject({
    code: 'provider_rejected',
    message: 'The provider refused the request as invalid.',
    provider_message: MESSAGE,
  })
  expect(await logged(id)).toBe(MESSAGE)
})

test('a stream that is refused before it begins has it too', async () => {
  refuse()
  expect((await ask(app.secretKey, '/v1/chat', { stream: true })).error.provider_message).toBe(MESSAGE)
})

test("a member's own token gets it", async () => {
  const path = `/v1/environments/${app.developmentId}/playground-token`
  const { body } = await app.manage('POST', path)
  refuse()
  expect((await ask(body.token)).error.provider_message).toBe(MESSAGE)
})

test('a client token does not, nor does the record of its request', async () => {
  const body = { end_user: { id: 'u1' }, scopes: ['ai.chat'] }
  const minted: any = await (await app.call('/v1/client-tokens', body)).json()
  refuse()
  const { answer, error, id } = await ask(minted.token)
  expect(error.code).toBe('provider_rejected')
  expect(JSON.stringify(answer)).not.toContain('temperature')
  expect(await logged(id)).toBeNull()
})

test.each<[string, number, unknown, object]>([
  ['401', 401, MESSAGE, {}],
  ['403', 403, MESSAGE, {}],
  ['a 400 that names the key', 400, `Incorrect API key provided: ${API_KEY}`, { code: 'invalid_api_key' }],
  ['a 500', 500, MESSAGE, {}],
  ['a 429', 429, MESSAGE, {}],
])('no caller gets it with %s', async (_, status, message, more) => {
  refuse(message, status, more)
  const { answer, id } = await ask()
  expect(JSON.stringify(answer)).not.toMatch(/provider_message|temperature|canary/)
  expect(await logged(id)).toBeNull()
})

test('the key of the credential is removed from it, wherever it stands', async () => {
  refuse(`${'x '.repeat(240)}${API_KEY} is no value`)
  const { error } = await ask()
  expect(error.provider_message).toContain('[key]')
  expect(error.provider_message).not.toContain('canary')
})

test('only a text is passed on, nothing of the body', async () => {
  upstream.script(json(400, { error: { secret: 'inner', code: 'x' } }))
  expect(JSON.stringify((await ask()).answer)).not.toMatch(/inner|provider_message/)
  upstream.script(res => void res.writeHead(400).end('<html>inner</html>'))
  expect(JSON.stringify((await ask()).answer)).not.toMatch(/inner|provider_message/)
  upstream.script(json(422, { detail: [{ loc: ['body', 'seed'], msg: 'Extra inputs', input: 'inner' }] }))
  expect((await ask()).error.provider_message).toBe('body.seed: Extra inputs')
})

describe('every format has it', () => {
  const contents = [{ role: 'user', parts: [{ text: 'hi' }] }]
  test.each<[string, object, (answer: any) => unknown]>([
    ['/openai/v1/chat/completions', {}, answer => answer.error.provider_message],
    ['/openai/v1/responses', { messages: undefined, input: 'hi' }, answer => answer.error.provider_message],
    ['/anthropic/v1/messages', { max_tokens: 9 }, answer => answer.error.provider_message],
    [
      '/gemini/v1beta/models/gpt-4o-mini:generateContent',
      { model: undefined, messages: undefined, contents },
      answer => answer.error.provider_message,
    ],
    ['/cohere/v2/chat', {}, answer => answer.provider_message],
    [
      '/bedrock/model/gpt-4o-mini/converse',
      { model: undefined, messages: [{ role: 'user', content: [{ text: 'hi' }] }] },
      answer => answer.provider_message,
    ],
    ['/ollama/api/chat', { stream: false }, answer => answer.provider_message],
  ])('%s', async (path, body, find) => {
    refuse()
    expect(find((await ask(app.secretKey, path, body)).answer)).toBe(MESSAGE)
  })
})
