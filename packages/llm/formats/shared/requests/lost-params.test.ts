import { describe, expect, test } from 'vitest'
import type { Json } from '../../../json/json-value.ts'
import { findProvider } from '../../../providers/index.ts'
import { toSourceBody } from '../../../testing/recorded-requests.ts'
import { FORMATS } from '../../index.ts'
import { openAiChat } from '../../openai-chat/client/client.ts'
import { parseRequest } from '../../openai-chat/server/parse-request.ts'
import { isHint } from './hints.ts'
import { isLostExtra } from './lost-params.ts'

const RECORDS: readonly (readonly [string, Json])[] = [
  ['metadata', { team: 'a' }],
  ['prompt_cache_key', 'k'],
  ['prompt_cache_retention', '24h'],
  ['prompt_cache_options', { mode: 'explicit' }],
  ['safety_identifier', 's'],
]

test.each(RECORDS)('%s is lost, and a hint: it is named and never refused', (name, value) => {
  expect(isLostExtra(name, value)).toBe(true)
  expect(isHint(name)).toBe(true)
})

test.each<[string, Json]>([
  ['metadata', {}],
  ['metadata', { a: null }],
  ['metadata', null],
  ['prompt_cache_key', null],
  ['store', false],
  ['modalities', ['text']],
])('%s %j asks for nothing', (name, value) => {
  expect(isLostExtra(name, value)).toBe(false)
})

describe('a chat completion with all of them', () => {
  const body = { model: 'm', messages: [{ role: 'user', content: 'hi' }], ...Object.fromEntries(RECORDS) }
  const source = toSourceBody('openai-chat', body)
  const { request } = parseRequest(source.value, { source, pathModel: '', isEndUser: false })
  const find = (format: typeof openAiChat, provider: string, model: string): readonly string[] => {
    const target = findProvider(provider)
    if (target === undefined) throw new Error(`no provider ${provider}`)
    return format.listUnsupportedParams(request, target, model, source)
  }

  test.each([
    ['anthropic-messages', 'anthropic', 'claude-sonnet-4-6'],
    ['bedrock-converse', 'bedrock', 'us.amazon.nova-2-lite-v1:0'],
    ['gemini-content', 'gemini', 'gemini-3-flash-preview'],
    ['cohere-v2', 'cohere', 'command-a-03-2025'],
    ['ollama-chat', 'ollama', 'qwen3:8b'],
  ])('loses each of them at %s', (id, provider, model) => {
    const format = FORMATS.find(one => one.id === id)?.client
    if (format === undefined) throw new Error(`no format ${id}`)
    expect([...find(format, provider, model)].sort()).toEqual(RECORDS.map(([name]) => name).sort())
  })

  test('loses none at its own format and at Responses', () => {
    const responses = FORMATS.find(({ id }) => id === 'openai-responses')?.client ?? openAiChat
    expect(find(openAiChat, 'openai', 'gpt-5.5')).toEqual([])
    expect(find(responses, 'openai', 'gpt-5.5')).toEqual([])
  })
})
