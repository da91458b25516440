import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  json,
  openScriptedUpstream,
  type ScriptedUpstream,
} from '../../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../../testing/harness/app.ts'

let app: TestApp
let upstream: ScriptedUpstream

beforeAll(async () => {
  app = await openTestApp()
  upstream = await openScriptedUpstream()
  for (const provider of ['deepseek', 'openai', 'custom']) {
    await app.addCredential(provider, { api_key: 'sk-of-the-tenant', base_url: upstream.baseUrl })
  }
})

afterAll(async () => {
  await upstream.close()
  await app.close()
})

const CALL = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } }
const THINKING = json(200, {
  id: 'c1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: null,
        reasoning_content: 'I had better look.',
        tool_calls: [CALL],
      },
      finish_reason: 'tool_calls',
    },
  ],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
})
const QUESTION = { role: 'user', content: 'What is there?' }
const RESULT = { role: 'tool', tool_call_id: 'call_1', content: 'A cat.' }

/** Returns the assistant message that the route answers with. */
async function messageFrom(route: string): Promise<Record<string, unknown>> {
  upstream.script(THINKING)
  const response = await app.call(route, { model: 'deepseek/deepseek-chat', messages: [QUESTION] })
  return ((await response.json()) as any).choices[0].message
}

/** Sends the assistant message back and returns what the provider gets of it. */
async function replay(route: string, model: string, message: Record<string, unknown>): Promise<any> {
  const response = await app.call(route, { model, messages: [QUESTION, message, RESULT] })
  expect(response.status).toBe(200)
  return (upstream.requests.at(-1)?.body.messages as unknown[])[1]
}

test.each(['/v1/chat', '/openai/v1/chat/completions'])(
  '%s: sends returned reasoning to providers that require it, and not to those that refuse it',
  async route => {
    const message = await messageFrom(route)
    const sent = await replay(route, 'deepseek/deepseek-chat', message)
    expect(sent).toMatchObject({ reasoning_content: 'I had better look.', tool_calls: [CALL] })
    expect(sent).not.toHaveProperty('reasoning')
    const elsewhere = await replay(route, 'openai/gpt-4o-mini', message)
    expect(elsewhere).toMatchObject({ tool_calls: [CALL] })
    expect(Object.keys(elsewhere).filter(name => name.startsWith('reasoning'))).toEqual([])
  },
)

test('accepts the messages of a client that keeps only standard fields', async () => {
  upstream.script(THINKING)
  const message = { role: 'assistant', content: null, tool_calls: [CALL] }
  const sent = await replay('/openai/v1/chat/completions', 'deepseek/deepseek-chat', message)
  expect(sent).toEqual({ ...message, reasoning_content: ' ' })
})

test('accepts a native message with reasoning details', async () => {
  upstream.script(THINKING)
  const details = [{ type: 'reasoning.text', format: 'anthropic-claude-v1', text: 'a', signature: 'b' }]
  const message = { role: 'assistant', content: 'x', reasoning: 'a', reasoning_details: details }
  expect(await replay('/v1/chat', 'openai/gpt-4o-mini', message)).toEqual({ role: 'assistant', content: 'x' })
})
