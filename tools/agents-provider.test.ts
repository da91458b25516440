import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openUpstream, PROVIDER_KEY } from '../e2e/clients/agents/upstream.mjs'

let upstream: Awaited<ReturnType<typeof openUpstream>>

beforeEach(async () => {
  upstream = await openUpstream()
  upstream.script('the task', [{ name: 'read', args: { file: 'a' } }, { text: 'Done.' }])
})

afterEach(() => upstream.close())

const tools = [{ name: 'read', input_schema: { type: 'object' } }]
const user = { role: 'user', content: 'Do the task' }
const call = { type: 'tool_use', id: 'toolu_scripted1', name: 'read', input: { file: 'a' } }
const result = { type: 'tool_result', tool_use_id: 'toolu_scripted1', content: 'red' }
const loop = (...results: object[]): object[] => [
  user,
  { role: 'assistant', content: [call] },
  { role: 'user', content: results },
]

async function ask(fields: object, key = PROVIDER_KEY): Promise<{ status: number; json: any }> {
  const response = await fetch(`${upstream.origin}/anthropic/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'claude', max_tokens: 9, tools, messages: [user], ...fields }),
  })
  return { status: response.status, json: await response.json() }
}

describe('the scripted provider of the agents', () => {
  test('plays the turn that the results in the conversation call for', async () => {
    expect((await ask({})).json.content).toEqual([call])
    expect((await ask({})).json.content).toEqual([call])
    expect((await ask({ messages: loop(result) })).json.content).toEqual([{ type: 'text', text: 'Done.' }])
    expect(upstream.state.breaches).toEqual([])
    expect(upstream.state.seen.map(({ results }) => results)).toEqual([[], [], ['red']])
  })

  test('answers a request without the marker as a side request', async () => {
    const { json } = await ask({ messages: [{ role: 'user', content: 'A title, please' }] })
    expect(json.content).toEqual([{ type: 'text', text: 'A short title' }])
    expect([upstream.state.seen.length, upstream.state.asides.length]).toEqual([0, 1])
  })

  test('answers a side request for JSON in the form that it asks for', async () => {
    const responseJsonSchema = {
      type: 'object',
      properties: { reason: { type: 'string' }, choice: { type: 'string', enum: ['flash', 'pro'] } },
      required: ['reason', 'choice'],
    }
    const response = await fetch(`${upstream.origin}/gemini/v1beta/models/gemini:generateContent`, {
      method: 'POST',
      headers: { 'x-goog-api-key': PROVIDER_KEY, 'content-type': 'application/json' },
      body: JSON.stringify({
        contents: [{ role: 'user', parts: [{ text: 'Which model?' }] }],
        generationConfig: { responseMimeType: 'application/json', responseJsonSchema },
      }),
    })
    const { candidates } = await response.json()
    expect(JSON.parse(candidates[0].content.parts[0].text)).toEqual({ reason: 'text', choice: 'flash' })
  })

  test.each([
    ["the caller's key", {}, 'rd_sk_dev_own'],
    ['a field that the provider does not know', { reasoning_effort: 'low' }],
    ['a call without a result', { messages: loop() }],
    ['a result of an unknown call', { messages: loop(result, { ...result, tool_use_id: 'other' }) }],
    ['reasoning that has lost its signature', { messages: loop(result), thinking: { type: 'adaptive' } }],
    ['a request without the tool that the script calls', { tools: [] }],
  ])('refuses %s', async (_, fields, key?: string) => {
    expect((await ask(fields, key)).status).toBe(400)
    expect(upstream.state.breaches).toHaveLength(1)
  })
})
