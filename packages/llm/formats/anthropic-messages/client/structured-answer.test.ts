import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../json/json-value.ts'
import type { Provider } from '../../../provider/provider.ts'
import { findProvider } from '../../../providers/index.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import { addUp } from '../../../testing/add-up.ts'
import type { Target } from '../../../upstream/target.ts'
import { decodeReply } from './decode-reply.ts'
import { openStream } from './decode-stream.ts'
import { encodeRequest } from './encode-request.ts'
import { STRUCTURED_ANSWER } from './structured-answer.ts'

const toTarget = (model: string): Target => ({
  provider: findProvider('anthropic') as Provider,
  model,
  baseUrl: 'https://api.example.com/v1',
  apiKey: 'k',
})
const MAP = { type: 'object', additionalProperties: { type: 'string' } }
const FORMAT = { type: 'json_schema' as const, json_schema: { name: 'x', schema: MAP } }
const NOW = { type: 'function' as const, function: { name: 'now' } }

function send(fields: Partial<ChatRequest>, model = 'claude-haiku-4-5'): JsonObject {
  const request: ChatRequest = {
    model: 'x',
    messages: [{ role: 'user', content: 'hi' }],
    stream: false,
    includeUsage: false,
    responseFormat: FORMAT,
    ...fields,
  }
  return JSON.parse(encodeRequest(request, toTarget(model), undefined).body.toString())
}

describe('the choice of the answer tool', () => {
  const alone = { disable_parallel_tool_use: true }
  const forced = { type: 'tool', name: STRUCTURED_ANSWER, ...alone }
  const thinking = { reasoningEffort: 'low' }

  test.each<[string, Partial<ChatRequest>, JsonObject | undefined]>([
    ['one call of it is forced', {}, forced],
    ['one call of it is allowed to a model that thinks', thinking, { type: 'auto', ...alone }],
    ['beside other tools some call is forced', { tools: [NOW] }, { type: 'any' }],
    [
      'beside other tools one call is forced if the caller takes no more',
      { tools: [NOW], parallelToolCalls: false },
      { type: 'any', ...alone },
    ],
    ['the caller’s own choice is kept', { tools: [NOW], toolChoice: NOW }, { type: 'tool', name: 'now' }],
    ['beside other tools a model that thinks has no choice', { tools: [NOW], ...thinking }, undefined],
  ])('%s', (_, fields, choice) => {
    expect(send(fields).tool_choice).toEqual(choice)
  })

  test.each<[string, Partial<ChatRequest>, string]>([
    ['forced', {}, 'tool'],
    ['thinking', thinking, 'auto'],
  ])('the caller’s choice `none` leaves out the caller’s tools, not the answer: %s', (_, fields, type) => {
    const body = send({ tools: [NOW], toolChoice: 'none', ...fields })
    expect(body).toMatchObject({ tools: [{ name: STRUCTURED_ANSWER }], tool_choice: { type, ...alone } })
    expect(body.tools).toHaveLength(1)
  })

  test('the instructions ask for the call only where it cannot be forced', () => {
    expect(send(thinking).system).toMatch(/calling the tool/)
    expect(send({})).not.toHaveProperty('system')
  })

  test('is forced for a model that would think by default and is told not to', () => {
    const body = send({ reasoningEffort: 'none' }, 'claude-opus-5')
    expect(body).toMatchObject({ thinking: { type: 'disabled' }, tool_choice: forced })
    expect(body).not.toHaveProperty('system')
  })
})

describe('several answers and words around them', () => {
  const target = toTarget('claude-haiku-4-5')
  const answer = (input: JsonObject): JsonObject => ({
    type: 'tool_use',
    id: 'toolu_1',
    name: STRUCTURED_ANSWER,
    input,
  })
  const text = (words: string): JsonObject => ({ type: 'text', text: words })

  test('the first answer is the whole content of a plain reply', () => {
    const content = [text('Here it is: '), answer({ a: 1 }), answer({ a: 2 }), text('Done.')]
    const { choices } = decodeReply({ content, stop_reason: 'tool_use' }, target)
    expect(choices).toMatchObject([{ message: { content: '{"a":1}' }, finishReason: 'stop' }])
  })

  test('nothing follows the first answer in a stream, and the next message may have another', () => {
    const readMessage = (...blocks: JsonObject[]): string => {
      const events = blocks.flatMap((block, index) => {
        const isText = block.type === 'text'
        const delta = isText
          ? { type: 'text_delta', text: block.text }
          : { type: 'input_json_delta', partial_json: JSON.stringify(block.input) }
        const start = isText ? { type: 'text', text: '' } : { ...block, input: {} }
        return [
          { type: 'content_block_start', index, content_block: start },
          { type: 'content_block_delta', index, delta },
          { type: 'content_block_stop', index },
        ]
      })
      return addUp(
        [{ type: 'message_start', message: {} }, ...events].flatMap(event =>
          decoder.decode(JSON.stringify(event)),
        ),
      ).content
    }
    const decoder = openStream(target)
    expect(readMessage(text('a'), answer({ a: 1 }), answer({ a: 2 }), text('b'))).toBe('a{"a":1}')
    expect(readMessage(answer({ a: 3 }))).toBe('{"a":3}')
  })
})

test('`strict` goes to models only whose tools can be bound to their schemas', () => {
  const tools = [{ type: 'function' as const, function: { name: 'now', strict: true } }]
  expect(send({ tools, responseFormat: { type: 'text' } }).tools).toMatchObject([{ strict: true }])
  const older = send({ tools, responseFormat: { type: 'text' } }, 'claude-sonnet-4-0').tools as JsonObject[]
  expect(older[0]).not.toHaveProperty('strict')
})
