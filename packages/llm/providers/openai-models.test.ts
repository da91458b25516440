import { expect, test } from 'vitest'
import { chooseClientFormatId } from '../formats/choose-client-format.ts'
import { openAiChat } from '../formats/openai-chat/client/client.ts'
import { openAiResponses } from '../formats/openai-responses/client/client.ts'
import type { ChatRequest } from '../request/chat-request.ts'
import { toSourceBody } from '../testing/recorded-requests.ts'
import { azure } from './azure.ts'
import { openai } from './openai.ts'

const REQUEST: ChatRequest = {
  model: 'x',
  messages: [{ role: 'user', content: 'hi' }],
  stream: false,
  includeUsage: true,
  stop: ['END'],
  temperature: 0.5,
}

test.each([
  ['o3-mini', ['temperature']],
  ['o3-mini-2025-01-31', ['temperature']],
  ['o3', ['temperature', 'stop']],
  ['o4-mini', ['temperature', 'stop']],
  ['gpt-4o-mini', []],
])('%s does not take %j', (model, expected) => {
  expect([...openAiChat.listUnsupportedParams(REQUEST, openai, model)].sort()).toEqual([...expected].sort())
})

const tools = [{ type: 'function' as const, function: { name: 'f' } }]

test.each<[string, string | undefined, 'chat' | 'responses']>([
  ['gpt-4.1', undefined, 'chat'],
  ['gpt-5', 'high', 'chat'],
  ['gpt-5.4-mini', undefined, 'chat'],
  ['gpt-5.4-mini', 'low', 'responses'],
  ['gpt-5.5', 'none', 'chat'],
  ['gpt-5.6-terra', undefined, 'responses'],
  ['gpt-5.6-terra', 'low', 'responses'],
  ['gpt-5.6-terra', 'none', 'chat'],
  ['gpt-6-sol', undefined, 'responses'],
  ['gpt-6-sol', 'none', 'responses'],
])('tools go to %s with the effort %s by %s', (model, reasoningEffort, expected) => {
  for (const provider of [openai, azure]) {
    const format = chooseClientFormatId(
      provider,
      model,
      { tools, ...(reasoningEffort === undefined ? {} : { reasoningEffort }) },
      'openai-chat',
    )
    expect(format).toBe(`openai-${expected}`)
    expect(chooseClientFormatId(provider, model, {}, 'openai-chat')).toBe('openai-chat')
  }
})

test.each<[string, readonly string[]]>([
  ['gpt-4o-mini', ['reasoning_effort']],
  ['gpt-4.1', ['reasoning_effort']],
  ['gpt-5', []],
  ['gpt-next', []],
])('an effort is sent to %s without %j', (model, lost) => {
  const { stop: _stop, temperature: _temperature, ...rest } = REQUEST
  const request = { ...rest, reasoningEffort: 'low' }
  const target = { provider: openai, model, baseUrl: 'https://a.example/v1', apiKey: '' }
  const isSent = lost.length === 0
  expect(openAiChat.listUnsupportedParams(request, openai, model)).toEqual(lost)
  const chat = JSON.parse(openAiChat.encodeRequest(request, target, undefined, lost).body.toString())
  expect(Object.hasOwn(chat, 'reasoning_effort')).toBe(isSent)
  const value = { model, input: 'hi', reasoning: { effort: 'low', summary: 'auto' } }
  const source = toSourceBody('openai-responses', value)
  expect(openAiResponses.listUnsupportedParams(request, openai, model, source)).toEqual(lost)
  const { body } = openAiResponses.encodeRequest(request, target, source, lost)
  expect(JSON.parse(body.toString()).reasoning).toEqual({
    ...(isSent ? { effort: 'low' } : {}),
    summary: 'auto',
  })
})
