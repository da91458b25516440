import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { messageItem, responseOf } from '../../../testing/fakes/scripted-responses.ts'
import {
  completion,
  openScriptedUpstream,
  type ScriptedUpstream,
} from '../../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../../testing/harness/app.ts'

let app: TestApp
let upstream: ScriptedUpstream

beforeAll(async () => {
  app = await openTestApp()
  upstream = await openScriptedUpstream()
  for (const provider of ['openai', 'groq']) {
    await app.addCredential(provider, { api_key: 'sk-of-the-tenant', base_url: upstream.baseUrl })
  }
})

afterAll(async () => {
  await upstream.close()
  await app.close()
})

const CHAT_ONLY = 'groq/llama-3.3-70b-versatile'
const NATIVE = 'openai/gpt-5'
const tools = [
  { type: 'function', name: 'now', description: 'The time', parameters: { type: 'object' }, strict: false },
]

const sent = (): Record<string, any> => upstream.requests.at(-1)?.body as Record<string, any>
const post = (body: unknown, key?: string): Promise<Response> =>
  app.call('/openai/v1/responses', body, key === undefined ? {} : { key })

async function refusal(
  body: unknown,
  key?: string,
): Promise<{ status: number; code: string; param: string }> {
  const answer = await post(body, key)
  const { error } = (await answer.json()) as { error: { code: string; param: string } }
  return { status: answer.status, code: error.code, param: error.param }
}

describe('the Responses route refuses', () => {
  test.each([
    [
      'state at a provider that stores none',
      { model: CHAT_ONLY, previous_response_id: 'resp_1' },
      'previous_response_id',
    ],
    ['a conversation', { model: CHAT_ONLY, conversation: 'conv_1' }, 'conversation'],
    [
      'a reference to an item',
      { model: CHAT_ONLY, input: [{ type: 'item_reference', id: 'x' }] },
      'input[0]',
    ],
    [
      'a file at a provider without files',
      { model: CHAT_ONLY, input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file_1' }] }] },
      'input[0].content[0].file_id',
    ],
    ['work in the background', { model: NATIVE, background: true }, 'background'],
    ['a stored prompt', { model: NATIVE, prompt: { id: 'pmpt_1' } }, 'prompt'],
    [
      'a stored tool',
      { model: NATIVE, tools: [{ type: 'file_search', vector_store_ids: ['v'] }] },
      'tools[0]',
    ],
    [
      'a connector',
      { model: NATIVE, tools: [tools[0], { type: 'mcp', server_url: 'https://a.example' }] },
      'tools[1]',
    ],
    [
      'a connector brought by an item',
      {
        model: NATIVE,
        input: [{ type: 'additional_tools', tools: [{ type: 'mcp', server_url: 'https://a.example' }] }],
      },
      'input[0].tools[0]',
    ],
    ['a list of models', { model: NATIVE, models: ['x'] }, 'models'],
    ['a price tier', { model: NATIVE, service_tier: 'priority' }, 'service_tier'],
    [
      'a field that the other format lacks',
      { model: CHAT_ONLY, include: ['message.output_text.logprobs'] },
      'include',
    ],
    ['an unknown field', { model: CHAT_ONLY, unheard_of: 1 }, 'unheard_of'],
    ['log probabilities of a model that reasons', { model: NATIVE, top_logprobs: 2 }, 'top_logprobs'],
    ['no input', { model: NATIVE, input: undefined }, 'input'],
    [
      'an input without a call’s id',
      { model: NATIVE, input: [{ type: 'function_call_output', output: 'x' }] },
      'input[0].call_id',
    ],
  ])('%s', async (_, fields, param) => {
    const before = upstream.requests.length
    expect(await refusal({ input: 'x', ...fields })).toEqual({ status: 400, code: 'invalid_request', param })
    expect(upstream.requests.length).toBe(before)
  })

  test('a key with max_request_cost_usd may not use input that cannot be counted', async () => {
    const { key } = await app.createKey({ restrictions: { max_request_cost_usd: 0.01 } })
    expect((await refusal({ model: NATIVE, input: 'x', previous_response_id: 'r' }, key)).param).toBe(
      'previous_response_id',
    )
  })

  test.each([
    { type: 'reasoning', id: 'rs_x', summary: [] },
    { type: 'image_generation_call', id: 'ig_x' },
    { type: 'file_search_call', id: 'fs_x' },
    { type: 'Item_Reference', id: 'msg_x' },
  ])('a key with max_request_cost_usd may not send an item by its id alone: %j', async item => {
    const { key } = await app.createKey({ restrictions: { max_request_cost_usd: 0.05 } })
    const refused = await refusal({ model: NATIVE, input: [{ role: 'user', content: 'x' }, item] }, key)
    expect(refused).toEqual({ status: 400, code: 'invalid_request', param: 'input[1]' })
    upstream.script(responseOf(messageItem('x')))
    expect((await post({ model: NATIVE, input: [{ role: 'user', content: 'x' }, item] })).status).toBe(200)
  })

  test('state is accepted if the provider stores it', async () => {
    upstream.script(responseOf(messageItem('x')))
    expect((await post({ model: NATIVE, input: 'x', previous_response_id: 'resp_1' })).status).toBe(200)
    expect(sent().previous_response_id).toBe('resp_1')
  })

  test('leaves out and names a truncation that the provider does not know', async () => {
    upstream.script(completion('x'))
    const answer = await post({ model: CHAT_ONLY, input: 'x', truncation: 'auto' })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('x-rideau-dropped-params')).toBe('truncation')
    expect(sent()).not.toHaveProperty('truncation')
  })

  test('drops and names hosted tools and unsupported parameters if unsupported_params is drop', async () => {
    await app.manage('PATCH', `/v1/environments/${app.developmentId}`, { unsupported_params: 'drop' })
    upstream.script(responseOf(messageItem('x')), completion('x'))
    const hosted = { type: 'image_generation' }
    const answer = await post({ model: NATIVE, input: 'x', tools: [hosted, tools[0]], temperature: 0.5 })
    expect(answer.headers.get('x-rideau-dropped-params')).toBe('tools[0], temperature')
    expect(sent().tools).toEqual([tools[0]])
    expect(sent()).not.toHaveProperty('temperature')
    const foreign = await post({
      model: CHAT_ONLY,
      input: 'x',
      tools: [hosted, tools[0]],
      truncation: 'auto',
    })
    expect(foreign.headers.get('x-rideau-dropped-params')).toBe('tools[0], truncation')
    expect(sent().tools).toHaveLength(1)
    await app.manage('PATCH', `/v1/environments/${app.developmentId}`, { unsupported_params: 'refuse' })
  })
})

describe('a reference to reasoning that a provider stores', () => {
  const call = { type: 'function_call', call_id: 'call_1', name: 'now', arguments: '{}' }
  const input = [
    { role: 'user', content: 'hi' },
    { type: 'item_reference', id: 'rs_68a1' },
    call,
    { type: 'function_call_output', call_id: 'call_1', output: 'noon' },
  ]

  test('is left out and named at a provider whose models could not read it', async () => {
    upstream.script(completion('Noon.'))
    const answer = await post({ model: CHAT_ONLY, tools, input })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('x-rideau-dropped-params')).toBe('input[1]')
    expect(sent().messages).toMatchObject([{ role: 'user' }, { role: 'assistant' }, { role: 'tool' }])
  })

  test('passes to a provider of the format', async () => {
    upstream.script(responseOf(messageItem('Noon.')))
    const answer = await post({ model: NATIVE, tools, input })
    expect([answer.status, answer.headers.get('x-rideau-dropped-params')]).toEqual([200, null])
    expect(sent().input).toEqual(input)
  })

  test('does not make up for one to a text, whose refusal says what to send', async () => {
    const lost = [...input, { type: 'item_reference', id: 'msg_68a1' }]
    const answer = await post({ model: CHAT_ONLY, tools, input: lost })
    const { error } = (await answer.json()) as { error: { param: string; message: string } }
    expect([answer.status, error.param]).toEqual([400, 'input[4]'])
    expect(error.message).toContain('`store: false`')
  })
})
