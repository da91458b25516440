import Anthropic from '@anthropic-ai/sdk'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  chunk,
  completion,
  DONE,
  openScriptedUpstream,
  type ScriptedUpstream,
  stream,
  usageChunk,
} from '../../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../../testing/harness/app.ts'

/** Tools of Anthropic that the caller runs, at models of other providers. */

let app: TestApp
let upstream: ScriptedUpstream
let client: Anthropic

beforeAll(async () => {
  app = await openTestApp()
  upstream = await openScriptedUpstream()
  await app.addCredential('groq', { api_key: 'key', base_url: upstream.baseUrl })
  client = new Anthropic({ baseURL: `${app.gatewayUrl}/anthropic`, apiKey: app.secretKey, maxRetries: 0 })
})

afterAll(async () => {
  await upstream.close()
  await app.close()
})

const TOOLS = [
  { type: 'bash_20250124' as const, name: 'bash' as const },
  { type: 'text_editor_20250728' as const, name: 'str_replace_based_edit_tool' as const },
]
const QUESTION = { role: 'user' as const, content: 'What is here?' }
const ASKED = { model: 'groq/llama-3.3-70b-versatile', max_tokens: 64, tools: TOOLS, messages: [QUESTION] }
const CALL = { id: 'call_1', type: 'function', function: { name: 'bash', arguments: '{"command":"ls"}' } }
const USE = { type: 'tool_use', name: 'bash', input: { command: 'ls' } }
const CALLING = {
  choices: [{ index: 0, message: { role: 'assistant', tool_calls: [CALL] }, finish_reason: 'tool_calls' }],
}

test('a call of the function comes back as a use of the tool, and its result goes to the model', async () => {
  upstream.script(completion('', CALLING))
  const answer = await client.messages.create({ ...ASKED, tool_choice: { type: 'tool', name: 'bash' } })
  expect(answer.stop_reason).toBe('tool_use')
  expect(answer.content).toMatchObject([USE])
  expect(upstream.requests.at(-1)?.body).toMatchObject({
    tools: [
      {
        type: 'function',
        function: { name: 'bash', parameters: { properties: { command: {}, restart: {} } } },
      },
      { type: 'function', function: { name: 'str_replace_based_edit_tool' } },
    ],
    tool_choice: { type: 'function', function: { name: 'bash' } },
  })
  upstream.script(completion('A file.'))
  const [used] = answer.content
  if (used?.type !== 'tool_use') throw new Error('no use of a tool')
  const result = { type: 'tool_result' as const, tool_use_id: used.id, content: 'a.txt' }
  await client.messages.create({
    ...ASKED,
    messages: [QUESTION, { role: 'assistant', content: answer.content }, { role: 'user', content: [result] }],
  })
  expect(upstream.requests.at(-1)?.body).toMatchObject({
    messages: [{}, { role: 'assistant', tool_calls: [CALL] }, { role: 'tool', content: 'a.txt' }],
  })
})

test('a streamed call is a streamed use of the tool', async () => {
  upstream.script(
    stream(
      chunk({ role: 'assistant', tool_calls: [{ index: 0, ...CALL }] }),
      chunk({}, 'tool_calls'),
      usageChunk(),
      DONE,
    ),
  )
  const answer = await client.messages.stream(ASKED).finalMessage()
  expect(answer.content).toMatchObject([USE])
})

test('a tool that only a trained model can use is refused by name', async () => {
  const computer = { type: 'computer_20251124', name: 'computer', display_width_px: 1, display_height_px: 1 }
  const response = await app.call('/anthropic/v1/messages', { ...ASKED, tools: [...TOOLS, computer] })
  expect(response.status).toBe(400)
  expect(await response.text()).toContain('tools[2]: the provider groq does not support this parameter.')
})

test('many tools of one type do not make a short request a long one', async () => {
  const tools = Array.from({ length: 500 }, () => TOOLS[0])
  expect((await app.call('/anthropic/v1/messages', { ...ASKED, tools })).status).toBe(400)
})
