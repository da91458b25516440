import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { messageItem, responseOf, streamedResponseOf } from '../../testing/fakes/scripted-responses.ts'
import {
  json,
  openScriptedUpstream,
  type ScriptedUpstream,
  type UpstreamAnswer,
} from '../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../testing/harness/app.ts'

/** Conversations whose encrypted reasoning another account made than the one that is called. */

const OPENAI = 'openai/gpt-5.4'
const SECRET = 'gAAAA-of-account-A'
const REFUSAL = json(400, {
  error: {
    message: `The encrypted content ${SECRET} could not be verified.`,
    type: 'invalid_request_error',
    param: null,
    code: 'invalid_encrypted_content',
  },
})

let app: TestApp
let openai: ScriptedUpstream
let azure: ScriptedUpstream
beforeAll(async () => {
  app = await openTestApp()
  openai = await openScriptedUpstream()
  azure = await openScriptedUpstream()
  await app.addCredential('openai', { api_key: 'sk-b', base_url: openai.baseUrl })
  await app.addCredential('azure', { api_key: 'az', base_url: azure.baseUrl, options: { resource: 'r' } })
})
afterAll(async () => {
  await openai.close()
  await azure.close()
  await app.close()
})

/** Answers as an account that cannot read reasoning of account A. */
const toStranger =
  (answer: UpstreamAnswer): UpstreamAnswer =>
  (res, seen) =>
    (seen.text.includes(SECRET) ? REFUSAL : answer)(res, seen)

const REASONING = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: SECRET }
const CALL = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'f', arguments: '{}' }
const RESULT = { type: 'function_call_output', call_id: 'call_1', output: '42' }
const TOOL = { type: 'function', name: 'f', parameters: { type: 'object', properties: {} } }
const CHAT = {
  tools: [{ type: 'function', function: { name: 'f', parameters: TOOL.parameters } }],
  reasoning_effort: 'low',
}

async function post(upstream: ScriptedUpstream, path: string, body: Record<string, unknown>) {
  const before = upstream.requests.length
  const response = await app.call(path, body)
  const text = await response.text()
  const requestId = response.headers.get('x-request-id') ?? ''
  return { status: response.status, text, requestId, sent: upstream.requests.slice(before) }
}

const ITEMS = [{ role: 'user', content: 'What is it?' }, REASONING, CALL, RESULT]
const respond = (fields: Record<string, unknown> = {}) =>
  post(openai, '/openai/v1/responses', { model: OPENAI, input: ITEMS, tools: [TOOL], ...fields })

/** The messages of a conversation whose first turn account A answered by a call. */
async function openConversation(): Promise<Record<string, unknown>[]> {
  openai.script(responseOf(REASONING, CALL))
  const question = { role: 'user', content: 'What is it?' }
  const body = { model: OPENAI, messages: [question], ...CHAT }
  const { text } = await post(openai, '/openai/v1/chat/completions', body)
  const { choices } = JSON.parse(text)
  const { id, function: fn } = choices[0].message.tool_calls[0]
  // As a client that keeps only standard fields.
  const called = { role: 'assistant', content: null, tool_calls: [{ id, type: 'function', function: fn }] }
  return [question, called, { role: 'tool', tool_call_id: id, content: '42' }]
}

const typesOf = ({ input }: Record<string, unknown>): unknown[] =>
  (input as { type?: string; role?: string }[]).map(({ type, role }) => type ?? role)

describe('a request whose encrypted reasoning the account cannot read', () => {
  test('is answered without it: a chat, whose ids of calls carry it', async () => {
    const messages = await openConversation()
    openai.script(toStranger(responseOf(messageItem('It is 42.'))))
    const { status, text, sent } = await post(openai, '/openai/v1/chat/completions', {
      model: OPENAI,
      messages,
      ...CHAT,
    })
    expect([status, sent.length]).toEqual([200, 2])
    expect(text).toContain('It is 42.')
    expect(sent[0]?.text).toContain(SECRET)
    expect(typesOf(sent[1]?.body ?? {})).toEqual(['message', 'function_call', 'function_call_output'])
    expect(sent[1]?.body.include).toEqual(['reasoning.encrypted_content'])
  })

  test('is answered without it: a body of Responses, whose items lose the ids that belong to the reasoning', async () => {
    openai.script(toStranger(responseOf(messageItem('It is 42.'))))
    const { status, text, sent } = await respond()
    expect([status, sent.length]).toEqual([200, 2])
    expect(text).toContain('It is 42.')
    const { id: _, ...call } = CALL
    expect(sent[1]?.body.input).toEqual([ITEMS[0], call, RESULT])
  })

  test('is answered without it as a stream', async () => {
    openai.script(toStranger(streamedResponseOf(messageItem('It is 42.'))))
    const { status, text, sent } = await respond({ stream: true })
    expect([status, sent.length]).toEqual([200, 2])
    expect(text).toContain('response.completed')
  })

  test('shows both calls in its record, and counts the first among no limit of attempts', async () => {
    const alias = 'no-retries'
    const body = { alias, strategy: 'priority', targets: [{ model: OPENAI, max_retries: 0 }] }
    expect(
      (await app.manage('POST', `/v1/environments/${app.developmentId}/model-aliases`, body)).status,
    ).toBe(201)
    openai.script(toStranger(responseOf(messageItem('It is 42.'))))
    const { status, requestId } = await respond({ model: alias })
    expect(status).toBe(200)
    const { attempts } = await app.findLog(requestId)
    expect(attempts.map(({ status, error }: Record<string, unknown>) => [status, error])).toEqual([
      [400, 'bad_request'],
      [200, null],
    ])
  })

  test('is not sent to the provider of a fallback, which could not read it: a chat', async () => {
    const alias = 'openai-then-azure'
    const targets = [{ model: OPENAI, max_retries: 0 }, { model: 'azure/gpt-5.4' }]
    const path = `/v1/environments/${app.developmentId}/model-aliases`
    expect((await app.manage('POST', path, { alias, strategy: 'priority', targets })).status).toBe(201)
    const messages = await openConversation()
    openai.script(json(503, {}))
    azure.script(toStranger(responseOf(messageItem('It is 42.'))))
    const body = { model: alias, messages, ...CHAT }
    const { status, sent } = await post(azure, '/openai/v1/chat/completions', body)
    expect([status, sent.length]).toEqual([200, 1])
    expect(typesOf(sent[0]?.body ?? {})).toEqual(['message', 'function_call', 'function_call_output'])
  })

  test('is called once more only, and its refusal reaches the caller', async () => {
    openai.script(REFUSAL)
    const { status, text, sent } = await respond()
    expect([status, sent.length]).toEqual([400, 2])
    expect(text).toContain('could not be verified')
  })

  test('is not called again if the refusal is another one', async () => {
    const message = "Invalid type for 'encrypted_content': expected a string."
    openai.script(json(400, { error: { message, type: 'invalid_request_error', code: 'invalid_type' } }))
    const { status, sent } = await respond()
    expect([status, sent.length]).toEqual([400, 1])
  })
})
