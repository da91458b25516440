import { describe, expect, test } from 'vitest'
import { type JsonObject, toObject, toObjects } from '../../../json/json-value.ts'
import type { Provider } from '../../../provider/provider.ts'
import { findProvider } from '../../../providers/index.ts'
import type { ChatReply } from '../../../reply/chat-reply.ts'
import { anthropicMessages } from '../../anthropic-messages/client/client.ts'
import { encodeReply as encodeMessage } from '../../anthropic-messages/server/encode-reply.ts'
import { parseMessages } from '../../anthropic-messages/server/parse-messages.ts'
import { bedrockConverse } from '../../bedrock-converse/client/client.ts'
import { encodeReply as encodeConverse } from '../../bedrock-converse/server/encode-reply.ts'
import { geminiContent } from '../../gemini-content/client/client.ts'
import { openAiResponses } from '../../openai-responses/client/client.ts'
import { keepFirstCall } from '../adapted/keep-first-call.ts'
import type { ClientFormat } from '../client-format.ts'
import { noMessageNotes } from '../reading/message-notes.ts'
import { FOREIGN_SIGNATURE } from '../reasoning/foreign-thinking.ts'

/** A plain answer keeps its provider's order of thinking, texts and calls in the formats that have one. */

const ENVELOPE = { id: 'msg_1', created: 0, model: 'm' }

function decode(format: ClientFormat, provider: string, body: JsonObject): ChatReply {
  const model = 'global.anthropic.claude-opus-4-8'
  return format.decodeReply(body, {
    provider: findProvider(provider) as Provider,
    model,
    baseUrl: 'https://a.example',
    apiKey: '',
  })
}

const toMessage = (reply: ChatReply): JsonObject[] => encodeMessage(reply, ENVELOPE).content as JsonObject[]
const toConverse = (reply: ChatReply): JsonObject[] =>
  toObjects(toObject(toObject(encodeConverse(reply, 0).output)?.message)?.content)

const thought = (thinking: string): JsonObject => ({ type: 'thinking', thinking, signature: `s${thinking}` })
const said = (text: string): JsonObject => ({ type: 'text', text })
const use = (id: string): JsonObject => ({ type: 'tool_use', id, name: 'f', input: {} })
const INTERLEAVED = [
  thought('a'),
  said('one'),
  { type: 'redacted_thinking', data: 'sealed' },
  said('two'),
  use('t1'),
  thought('b'),
  use('t2'),
]
const reasoned = (text: string): JsonObject => ({
  reasoningContent: { reasoningText: { text, signature: `s${text}` } },
})
const CONVERSE_INTERLEAVED = [
  reasoned('a'),
  { text: 'one' },
  { reasoningContent: { redactedContent: Buffer.from('sealed').toString('base64') } },
  { text: 'two' },
  { toolUse: { toolUseId: 't1', name: 'f', input: {} } },
  reasoned('b'),
  { toolUse: { toolUseId: 't2', name: 'f', input: {} } },
]
const toReply = (content: JsonObject[]): JsonObject => ({ content, stop_reason: 'tool_use' })
const toConverseReply = (content: JsonObject[]): JsonObject => ({
  output: { message: { content } },
  stopReason: 'tool_use',
})
const plainIds = (blocks: JsonObject[]): unknown =>
  JSON.parse(JSON.stringify(blocks).replaceAll(/__rd1__[\w-]+/g, ''))

describe('the order of Claude’s blocks', () => {
  test('reaches callers of Anthropic from Converse', () => {
    const reply = decode(bedrockConverse, 'bedrock', toConverseReply(CONVERSE_INTERLEAVED))
    expect(plainIds(toMessage(reply))).toEqual(INTERLEAVED)
  })

  test('reaches callers of Converse from Anthropic', () => {
    const reply = decode(anthropicMessages, 'anthropic', toReply(INTERLEAVED))
    expect(plainIds(toConverse(reply))).toEqual(CONVERSE_INTERLEAVED)
  })

  test('has a refusal behind what came before', () => {
    const refused = { stop_details: { type: 'refusal', explanation: 'No.' }, stop_reason: 'refusal' }
    const reply = decode(anthropicMessages, 'anthropic', { content: [use('t1'), thought('a')], ...refused })
    expect(plainIds(toMessage(reply))).toEqual([use('t1'), thought('a'), said('No.')])
  })

  test('comes back to Converse as it was', () => {
    const notes = noMessageNotes([])
    const messages = parseMessages({ messages: [{ role: 'assistant', content: INTERLEAVED }] }, notes)
    const request = {
      model: 'x',
      messages,
      stream: false,
      includeUsage: false,
      tools: [{ type: 'function' as const, function: { name: 'f' } }],
    }
    const provider = findProvider('bedrock') as Provider
    const target = {
      provider,
      model: 'global.anthropic.claude-opus-4-8',
      baseUrl: 'https://b.example',
      apiKey: '',
    }
    const sent = JSON.parse(bedrockConverse.encodeRequest(request, target, undefined).body.toString())
    expect(sent.messages.at(-1).content).toEqual(CONVERSE_INTERLEAVED)
  })

  test('has no call that was cut, and no further call where one is asked for', () => {
    const whole = decode(bedrockConverse, 'bedrock', toConverseReply(CONVERSE_INTERLEAVED))
    const [choice] = whole.choices
    if (choice?.message.tool_calls?.[1] === undefined) throw new Error('no second call')
    choice.message.tool_calls[1].function.arguments = '{"a'
    choice.finishReason = 'length'
    expect(toMessage(whole).map(({ type }) => type)).toEqual([
      ...['thinking', 'text', 'redacted_thinking', 'text', 'tool_use', 'thinking'],
    ])
    const single = decode(keepFirstCall(bedrockConverse), 'bedrock', toConverseReply(CONVERSE_INTERLEAVED))
    expect(toMessage(single).filter(({ type }) => type === 'tool_use')).toHaveLength(1)
  })
})

describe('the order of other models’ parts reaches callers of Anthropic and Converse', () => {
  const foreign = (thinking: string): JsonObject => ({
    type: 'thinking',
    thinking,
    signature: FOREIGN_SIGNATURE,
  })
  const EXPECTED = [foreign('a'), said('one'), foreign('b'), said('two')]

  test('from Gemini', () => {
    const parts = [
      { text: 'a', thought: true },
      { text: 'one' },
      { text: 'b', thought: true },
      { text: 'two' },
      { functionCall: { id: 'c1', name: 'f', args: {} } },
    ]
    const body = { candidates: [{ content: { parts }, finishReason: 'STOP' }] }
    const reply = decode(geminiContent, 'gemini', body)
    expect(toMessage(reply)).toEqual([...EXPECTED, use('c1')])
    expect(toConverse(reply).map(block => Object.keys(block)[0])).toEqual([
      ...['reasoningContent', 'text', 'reasoningContent', 'text', 'toolUse'],
    ])
    expect(reply.choices[0]?.message).toMatchObject({ reasoning: 'ab', content: 'onetwo' })
  })

  test('from a chunk of a Gemini stream', () => {
    const parts = [{ text: 'one' }, { functionCall: { id: 'c1', name: 'f', args: {} } }, { text: 'two' }]
    const provider = findProvider('gemini') as Provider
    const target = { provider, model: 'gemini-3-flash-preview', baseUrl: 'https://a.example', apiKey: '' }
    const events = geminiContent
      .openStream(target)
      .decode(JSON.stringify({ candidates: [{ content: { parts }, finishReason: 'STOP' }] }))
    expect(events).toMatchObject([
      { content: 'one', toolCalls: [{ id: 'c1' }] },
      { content: 'two', finishReason: 'tool_calls' },
    ])
  })

  test('from Responses', () => {
    const reasoning = (text: string): JsonObject => ({
      type: 'reasoning',
      summary: [{ type: 'summary_text', text }],
    })
    const message = (text: string): JsonObject => ({
      type: 'message',
      content: [{ type: 'output_text', text }],
    })
    const output = [reasoning('a'), message('one'), reasoning('b'), message('two')]
    const reply = decode(openAiResponses, 'openai', { id: 'r', status: 'completed', output })
    expect(toMessage(reply)).toEqual(EXPECTED)
  })
})

test('an answer in the usual order, and one whose content is the input of a tool, have no order of their own', () => {
  const usual = decode(anthropicMessages, 'anthropic', toReply([thought('a'), said('one'), use('t1')]))
  expect(usual.choices[0]).not.toHaveProperty('parts')
  const json = { toolUse: { toolUseId: 'j', name: 'rideau_json_output', input: { a: 1 } } }
  const answer = decode(bedrockConverse, 'bedrock', toConverseReply([{ text: 'one' }, reasoned('a'), json]))
  expect(answer.choices[0]).not.toHaveProperty('parts')
  expect(toMessage(answer).at(-1)).toEqual(said('{"a":1}'))
})
