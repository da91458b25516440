import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openScriptedUpstream, type ScriptedUpstream } from '../../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../../testing/harness/app.ts'
import { FORMAT_TARGETS } from '../../../testing/harness/format-targets.ts'

/**
 * Callers of Cohere's and Converse's formats reach a provider of every format, in the middle of a conversation with
 * tools.
 */

let app: TestApp
let upstream: ScriptedUpstream

beforeAll(async () => {
  app = await openTestApp()
  upstream = await openScriptedUpstream()
  for (const provider of ['groq', 'openai', 'anthropic', 'gemini', 'cohere', 'ollama', 'bedrock']) {
    const options = provider === 'bedrock' ? { options: { region: 'eu-west-1' } } : {}
    await app.addCredential(provider, { api_key: 'key', base_url: upstream.baseUrl, ...options })
  }
})

afterAll(async () => {
  await upstream.close()
  await app.close()
})

/** What a provider must receive in any format. */
const TEXTS = ['Be brief.', 'Weather in Paris?', 'usual_tool', 'a city', 'Paris', 'twenty degrees']
const SCHEMA = { type: 'object', properties: { city: { type: 'string', description: 'a city' } } }

const TARGETS = Object.entries(FORMAT_TARGETS).map(([format, [model, answer]]) => ({ format, model, answer }))

describe.each(TARGETS)('a provider of $format', ({ model, answer }) => {
  test('gets the conversation of a Cohere caller', async () => {
    upstream.script(answer)
    const call = {
      id: 'call_1',
      type: 'function',
      function: { name: 'usual_tool', arguments: '{"city":"Paris"}' },
    }
    const response = await app.call('/cohere/v2/chat', {
      model,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: [{ type: 'text', text: 'Weather in Paris?' }] },
        { role: 'assistant', tool_plan: 'Look it up.', tool_calls: [call] },
        {
          role: 'tool',
          tool_call_id: 'call_1',
          content: [{ type: 'document', document: { data: { t: 'twenty degrees' } } }],
        },
      ],
      tools: [{ type: 'function', function: { name: 'usual_tool', parameters: SCHEMA } }],
    })
    expect([response.status, await response.json()]).toMatchObject([
      200,
      { finish_reason: 'COMPLETE', message: { role: 'assistant', content: [{ type: 'text', text: 'x' }] } },
    ])
    const { text } = upstream.requests.at(-1) as { text: string }
    expect(TEXTS.filter(each => !text.includes(each))).toEqual([])
  })

  test('gets the conversation of a Converse caller', async () => {
    upstream.script(answer)
    const toolUse = { toolUseId: 'call_1', name: 'usual_tool', input: { city: 'Paris' } }
    const toolResult = { toolUseId: 'call_1', content: [{ json: { t: 'twenty degrees' } }] }
    const response = await app.call(`/bedrock/model/${encodeURIComponent(model)}/converse`, {
      system: [{ text: 'Be brief.' }, { cachePoint: { type: 'default' } }],
      messages: [
        { role: 'user', content: [{ text: 'Weather in Paris?' }] },
        { role: 'assistant', content: [{ toolUse }] },
        { role: 'user', content: [{ toolResult }] },
      ],
      toolConfig: { tools: [{ toolSpec: { name: 'usual_tool', inputSchema: { json: SCHEMA } } }] },
    })
    expect([response.status, await response.json()]).toMatchObject([
      200,
      { stopReason: 'end_turn', output: { message: { role: 'assistant', content: [{ text: 'x' }] } } },
    ])
    const { text } = upstream.requests.at(-1) as { text: string }
    expect(TEXTS.filter(each => !text.includes(each))).toEqual([])
  })
})
