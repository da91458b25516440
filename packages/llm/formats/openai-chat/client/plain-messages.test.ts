import { expect, test } from 'vitest'
import type { JsonObject } from '../../../json/json-value.ts'
import { toObjects } from '../../../json/json-value.ts'
import type { Provider } from '../../../provider/provider.ts'
import { azure } from '../../../providers/azure.ts'
import { custom } from '../../../providers/custom.ts'
import { groq } from '../../../providers/groq.ts'
import { mistral } from '../../../providers/mistral.ts'
import { openrouter } from '../../../providers/openrouter.ts'
import type { FormatId } from '../../../request/format-id.ts'
import type { Message } from '../../../request/message.ts'
import { toSourceBody } from '../../../testing/recorded-requests.ts'
import { encodeRequest } from './encode-request.ts'

/** The messages as a model gets them that came in a format. */
function send(
  messages: Message[],
  provider: Provider,
  model: string,
  format: FormatId = 'anthropic-messages',
) {
  const request = { model: 'x/y', messages, stream: false, includeUsage: false }
  const source = toSourceBody(format, { model: 'x', messages: messages as unknown as JsonObject[] })
  const target = { provider, model, baseUrl: 'https://api.example.com/v1', apiKey: 'k' }
  return toObjects(JSON.parse(encodeRequest(request, target, source).body.toString()).messages)
}

const CALL = { id: 'aB3456789', type: 'function', function: { name: 'f', arguments: '{}' } } as const
const called: Message = { role: 'assistant', content: null, tool_calls: [CALL] }
const result: Message = { role: 'tool', tool_call_id: CALL.id, content: '12:00' }
const next: Message = { role: 'user', content: 'And now?' }
const IMAGE = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }
const ANSWER = { role: 'assistant', content: 'OK.' }

test.each([
  ['Mistral', mistral, 'open-model'],
  ['Azure', azure, 'mistral-large-2411'],
  ['a server', custom, 'mistralai/Devstral-Small-2507'],
])(
  "a message of the user after a tool's result comes after an answer at a model of Mistral's at %s",
  (...[, provider, model]) => {
    expect(send([called, result, next], provider, model)).toEqual([called, result, ANSWER, next])
    const seen: Message = { ...result, content: [{ type: 'text', text: '12:00' }, IMAGE] }
    expect(send([called, seen], provider, model)).toEqual([
      called,
      result,
      ANSWER,
      { role: 'user', content: [IMAGE] },
    ])
  },
)

test('a message after a result goes to other models, and from callers of the format, as it came', () => {
  expect(send([called, result, next], groq, 'llama-3.3-70b-versatile')).toEqual([called, result, next])
  expect(send([called, result, next], azure, 'gpt-4o')).toEqual([called, result, next])
  expect(send([called, result, next], mistral, 'mistral-large-latest', 'openai-chat')).toEqual([
    called,
    result,
    next,
  ])
})

test('messages of the user in a row become one, with the images of a result before its text', () => {
  const first: Message = { role: 'user', content: 'First.' }
  expect(send([first, next], groq, 'm')).toEqual([{ role: 'user', content: 'First.\n\nAnd now?' }])
  const seen: Message = { ...result, content: [IMAGE] }
  expect(send([called, seen, next], groq, 'm').at(-1)).toEqual({
    role: 'user',
    content: [IMAGE, { type: 'text', text: 'And now?' }],
  })
  expect(send([first, next], groq, 'm', 'openai-chat')).toEqual([first, next])
  const named: Message[] = [
    { ...first, name: 'ann' },
    { ...next, name: 'bob' },
  ]
  expect(send(named, groq, 'm')).toEqual(named)
})

const MARK = { type: 'ephemeral' }
const MARKED: Message[] = [
  { role: 'system', content: [{ type: 'text', text: 'Be brief.', cache_control: MARK }] },
  { role: 'user', content: [{ type: 'text', text: 'Look.', cache_control: MARK }, IMAGE] },
  called,
  { ...result, cache_control: MARK },
]

test('marks of caching go to a provider that takes them, that of a result on its text', () => {
  expect(send(MARKED, openrouter, 'anthropic/claude-haiku-4.5')).toEqual([
    ...MARKED.slice(0, 3),
    { ...result, content: [{ type: 'text', text: '12:00', cache_control: MARK }] },
  ])
  const failed = { ...result, is_error: true, cache_control: MARK }
  expect(send([called, failed], openrouter, 'anthropic/claude-haiku-4.5').at(-1)?.content).toEqual([
    { type: 'text', text: 'Error: 12:00', cache_control: MARK },
  ])
})

test('marks of caching are left out elsewhere', () => {
  expect(send(MARKED, groq, 'm')).toEqual([
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: [{ type: 'text', text: 'Look.' }, IMAGE] },
    called,
    result,
  ])
})

test.each([
  [openrouter, true],
  [groq, false],
])('marks of caching on tools: %#', (provider, isKept) => {
  const tools = [{ type: 'function' as const, function: { name: 'f' }, cache_control: MARK }]
  const request = { model: 'x/y', messages: [next], tools, stream: false, includeUsage: false }
  const source = toSourceBody('anthropic-messages', { model: 'x', messages: [] })
  const target = { provider, model: 'm', baseUrl: 'https://api.example.com/v1', apiKey: 'k' }
  const [tool] = toObjects(JSON.parse(encodeRequest(request, target, source).body.toString()).tools)
  expect(tool).toEqual({
    type: 'function',
    function: { name: 'f' },
    ...(isKept ? { cache_control: MARK } : {}),
  })
})
