import { expect, test } from 'vitest'
import type { JsonObject } from '../../../json/json-value.ts'
import type { Provider } from '../../../provider/provider.ts'
import { findProvider } from '../../../providers/index.ts'
import { toSourceBody } from '../../../testing/recorded-requests.ts'
import { FORMATS } from '../../index.ts'
import { parseRequest } from '../../openai-chat/server/parse-request.ts'

const CUSTOM = { id: 'call_1', type: 'custom', custom: { name: 'shell', input: 'ls "a b"' } }
const BODY: JsonObject = {
  model: 'm',
  messages: [
    { role: 'user', content: 'List it.' },
    { role: 'assistant', content: null, tool_calls: [CUSTOM] },
    { role: 'tool', tool_call_id: 'call_1', content: 'a.txt' },
  ],
  tools: [{ type: 'function', function: { name: 'other' } }],
}

/** What a provider of the format is sent of a call of a tool that takes free text. */
function encode(formatId: string, providerId: string, model: string): string {
  const format = FORMATS.find(({ id }) => id === formatId)?.client
  const source = toSourceBody('openai-chat', BODY)
  const { request } = parseRequest(source.value, { source, pathModel: '', isEndUser: false })
  const provider = findProvider(providerId) as Provider
  const target = { provider, model, baseUrl: 'https://a.example/v1', apiKey: 'k' }
  return format?.encodeRequest(request, target, source).body.toString() ?? ''
}

test.each<[string, string, string, JsonObject]>([
  ['anthropic-messages', 'anthropic', 'claude-sonnet-4-6', { name: 'shell', input: { input: 'ls "a b"' } }],
  ['gemini-content', 'gemini', 'gemini-2.5-flash', { name: 'shell', args: { input: 'ls "a b"' } }],
  [
    'bedrock-converse',
    'bedrock',
    'us.amazon.nova-2-lite-v1:0',
    { name: 'shell', input: { input: 'ls "a b"' } },
  ],
  ['ollama-chat', 'ollama', 'qwen3:8b', { name: 'shell', arguments: { input: 'ls "a b"' } }],
  ['cohere-v2', 'cohere', 'command-a-03-2025', { name: 'shell', arguments: '{"input":"ls \\"a b\\""}' }],
  ['openai-responses', 'openai', 'gpt-5.4', { name: 'shell', arguments: '{"input":"ls \\"a b\\""}' }],
])(
  'a custom tool call becomes the call of a function with its text as `input`: %s',
  (format, provider, model, call) => {
    expect(encode(format, provider, model)).toContain(JSON.stringify(call).slice(1, -1))
  },
)

test('a custom tool call reaches a provider of OpenAI’s format as it came', () => {
  expect(encode('openai-chat', 'openai', 'gpt-4o-mini')).toContain(JSON.stringify(CUSTOM))
})
