import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { openSseParser } from '../../../frames/sse.ts'
import type { JsonObject } from '../../../json/json-value.ts'
import { toObject, toObjects } from '../../../json/json-value.ts'
import { findProvider } from '../../../providers/index.ts'
import type { ReplyMessage } from '../../../reply/chat-reply.ts'
import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { Message } from '../../../request/message.ts'
import type { StreamEvent } from '../../../stream/stream-event.ts'
import type { Target } from '../../../upstream/target.ts'
import {
  listReasoningDetails,
  markDirect,
  packToolCallId,
  plainToolCallId,
} from '../../shared/reasoning/reasoning-carrier.ts'
import { openAiChat } from './client.ts'

const at = (id: string): Target => {
  const provider = findProvider(id)
  if (provider === undefined) throw new Error(id)
  return { provider, model: 'm', baseUrl: 'https://example.com/v1', apiKey: '' }
}
const OPENROUTER = at('openrouter')

const TEXT = { type: 'reasoning.text', format: 'anthropic-claude-v1', index: 0 }
const SEALED = {
  type: 'reasoning.encrypted',
  format: 'openai-responses-v1',
  data: 'gAAA',
  id: 'rs_1',
  index: 0,
}
const CALL = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } }

const chunk = (delta: JsonObject, finish: string | null = null): string =>
  JSON.stringify({ id: 'gen-1', choices: [{ index: 0, delta, finish_reason: finish }] })

function decodeAll(payloads: readonly string[], target: Target): ReplyMessage {
  const decoder = openAiChat.openStream(target)
  return addUp(payloads.flatMap(data => decoder.decode(data)))
}

/** A stream as a client adds it up. */
function addUp(events: readonly StreamEvent[]): ReplyMessage {
  const message: ReplyMessage = { role: 'assistant', content: null }
  for (const event of events) {
    if (event.type !== 'delta') continue
    if (event.content !== undefined) message.content = (message.content ?? '') + event.content
    if (event.reasoningDetails !== undefined) {
      message.reasoning_details = [...(message.reasoning_details ?? []), ...event.reasoningDetails]
    }
    for (const { index, id, function: fn } of event.toolCalls ?? []) {
      message.tool_calls ??= []
      const call = message.tool_calls[index]
      if (call === undefined) {
        message.tool_calls[index] = {
          id: id ?? '',
          type: 'function',
          function: { name: fn?.name ?? '', arguments: fn?.arguments ?? '' },
        }
      } else call.function.arguments += fn?.arguments ?? ''
    }
  }
  return message
}

/** The assistant's message as the provider gets it in the next turn. */
function sendBack(message: Message, target: Target): JsonObject {
  const request: ChatRequest = {
    model: 'm',
    messages: [{ role: 'user', content: 'Look.' }, message],
    stream: false,
    includeUsage: false,
  }
  const { body } = openAiChat.encodeRequest(request, target, undefined)
  return JSON.parse(body.toString()).messages[1]
}

/** What a client keeps that knows the standard fields only. */
const standard = ({ role, content, tool_calls }: ReplyMessage): Message => ({
  role,
  content,
  ...(tool_calls === undefined ? {} : { tool_calls }),
})

const STREAMED = [
  chunk({ role: 'assistant', reasoning: 'I had ', reasoning_details: [{ ...TEXT, text: 'I had ' }] }),
  chunk({ reasoning: 'better look.', reasoning_details: [{ ...TEXT, text: 'better look.', signature: '' }] }),
  chunk({ reasoning_details: [{ ...TEXT, signature: 'Eq+/=' }] }),
  chunk({ tool_calls: [{ index: 0, ...CALL }] }),
  chunk({}, 'tool_calls'),
  '[DONE]',
]
const PLAIN = {
  id: 'gen-1',
  choices: [
    {
      index: 0,
      finish_reason: 'tool_calls',
      message: {
        role: 'assistant',
        content: null,
        reasoning: 'I had better look.',
        reasoning_details: [{ ...TEXT, text: 'I had better look.', signature: 'Eq+/=' }],
        tool_calls: [CALL],
      },
    },
  ],
}
const WHOLE: ReasoningDetail = {
  type: 'reasoning.text',
  format: 'anthropic-claude-v1',
  text: 'I had better look.',
  signature: 'Eq+/=',
  index: 0,
}

describe('reasoning that an aggregator passes on', () => {
  test('is decoded alike from plain and streamed answers, marked with the aggregator', () => {
    const [choice] = openAiChat.decodeReply(PLAIN, OPENROUTER).choices
    expect(choice?.message.reasoning_details).toEqual([{ ...WHOLE, via: 'openrouter' }])
    expect(choice?.message.tool_calls?.[0]?.id).toBe(
      packToolCallId('call_1', [{ ...WHOLE, via: 'openrouter' }]),
    )
    const streamed = decodeAll(STREAMED, OPENROUTER)
    expect(streamed.reasoning_details).toEqual(choice?.message.reasoning_details)
    expect(streamed.tool_calls).toEqual(choice?.message.tool_calls)
  })

  test('keeps a summary and encrypted data apart, whatever their indexes, and two encrypted pieces too', () => {
    const summary = { type: 'reasoning.summary', format: 'xai-responses-v1', index: 0 }
    const other = { ...SEALED, id: 'rs_2', data: 'gBBB' }
    const payloads = [
      chunk({ reasoning_details: [{ ...summary, summary: 'One ' }] }),
      chunk({ reasoning_details: [{ ...summary, summary: 'two' }, SEALED] }),
      chunk({ reasoning_details: [other] }),
      '[DONE]',
    ]
    expect(decodeAll(payloads, OPENROUTER).reasoning_details).toEqual([
      { ...summary, summary: 'One two', via: 'openrouter' },
      { ...SEALED, via: 'openrouter' },
      { ...other, via: 'openrouter' },
    ])
  })

  test('is left out if it has wrong types, an unknown kind or no content', () => {
    const payloads = [
      chunk({ reasoning_details: 'x' }),
      chunk({
        reasoning_details: [null, 1, { type: 'reasoning.text', text: 5 }, { type: 'new', data: 'x' }],
      }),
      chunk({ reasoning_details: [{ type: 'reasoning.text', format: null, text: '' }] }),
      '[DONE]',
    ]
    expect(decodeAll(payloads, OPENROUTER).reasoning_details).toBeUndefined()
  })

  test('is sent back unchanged for clients that keep it and for clients that keep standard fields only', () => {
    for (const message of [
      decodeAll(STREAMED, OPENROUTER),
      openAiChat.decodeReply(PLAIN, OPENROUTER).choices[0]?.message,
    ]) {
      if (message === undefined) throw new Error('no choice')
      const kept = sendBack(
        { ...standard(message), reasoning_details: message.reasoning_details },
        OPENROUTER,
      )
      const lost = sendBack(standard(message), OPENROUTER)
      for (const sent of [kept, lost]) {
        expect(sent).toEqual({
          role: 'assistant',
          content: null,
          tool_calls: [CALL],
          reasoning_details: [WHOLE],
        })
      }
    }
  })

  test('is sent to no other provider of the format, nor to the model’s maker', () => {
    const message = decodeAll(STREAMED, OPENROUTER)
    const turn = { ...standard(message), reasoning_details: message.reasoning_details }
    for (const id of ['groq', 'custom', 'custom-other', 'openai']) {
      expect(sendBack(turn, at(id))).toEqual({ role: 'assistant', content: null, tool_calls: [CALL] })
    }
    expect(listReasoningDetails(turn, 'anthropic-claude-v1')).toEqual([])
    // A client that knows the fields and not the gateway's mark: the ids still tell.
    const unmarked = { ...turn, reasoning_details: [WHOLE] }
    expect(listReasoningDetails(unmarked, 'anthropic-claude-v1')).toEqual([])
    expect(sendBack(unmarked, at('groq'))).not.toHaveProperty('reasoning_details')
  })

  test('does not include what the model’s maker sent itself', () => {
    const call = { ...CALL, id: packToolCallId('call_1', [WHOLE]) } as const
    const turns: Message[] = [
      { role: 'assistant', content: 'x', reasoning_details: markDirect([WHOLE]) },
      {
        role: 'assistant',
        content: null,
        tool_calls: [call as never],
        reasoning_details: markDirect([WHOLE]),
      },
      { role: 'assistant', content: null, tool_calls: [call as never], reasoning_details: [WHOLE] },
      { role: 'assistant', content: null, tool_calls: [call as never] },
    ]
    for (const turn of turns) {
      expect(sendBack(turn, OPENROUTER)).not.toHaveProperty('reasoning_details')
      expect(listReasoningDetails(turn, 'anthropic-claude-v1')).toMatchObject([WHOLE])
    }
  })

  test('without a mark is sent unchanged', () => {
    const turn = { role: 'assistant', content: 'x', reasoning_details: [{ ...WHOLE, more: 1 }] } as const
    expect(sendBack(turn as unknown as Message, OPENROUTER)).toEqual(turn)
  })
})

const WIRE = new URL('../../../../../../shared/wire/', import.meta.url)
const FOLDERS = ['openrouter', 'vercel-gateway']
const exists = existsSync(WIRE)
if (!exists) console.log('skipped: the recordings of ../shared/wire are not there (40 answers with details)')

interface Answer {
  readonly name: string
  readonly target: Target
  readonly message: ReplyMessage
  /** Added up as OpenRouter's documents say: pieces in order, those of one type and number together. */
  readonly wire: JsonObject[]
  /** The details came after the first call, whose id is out by then. */
  readonly isLate: boolean
}

function readAnswer(folder: string, file: string): Answer[] {
  const recording = JSON.parse(readFileSync(new URL(`${folder}/${file}`, WIRE), 'utf8'))
  const { response } = recording
  if (response.status !== 200) return []
  const target = at(folder === 'openrouter' ? 'openrouter' : 'custom-vercel')
  const name = `${folder}/${file}`
  if (!file.includes('__stream__')) {
    const body = JSON.parse(response.body)
    const message = openAiChat.decodeReply(body, target).choices[0]?.message
    const wire = toObjects(body.choices?.[0]?.message?.reasoning_details)
    return wire.length === 0 || message === undefined ? [] : [{ name, target, message, wire, isLate: false }]
  }
  const payloads: string[] = response.chunks ?? []
  if (typeof response.body === 'string') {
    const parser = openSseParser(({ data }) => payloads.push(data))
    parser.push(Buffer.from(response.body))
    parser.end()
  }
  const wire: JsonObject[] = []
  let hasCalls = false
  let isLate = false
  for (const data of payloads) {
    const delta = data === '[DONE]' ? undefined : toObject(JSON.parse(data).choices?.[0]?.delta)
    hasCalls ||= toObjects(delta?.tool_calls).length > 0
    for (const piece of toObjects(delta?.reasoning_details)) {
      isLate ||= hasCalls
      const known = wire.find(({ type, index }) => type === piece.type && index === piece.index)
      if (known === undefined) wire.push({ ...piece })
      else {
        for (const field of ['text', 'summary', 'signature', 'data']) {
          if (typeof piece[field] === 'string') known[field] = `${known[field] ?? ''}${piece[field]}`
        }
      }
    }
  }
  return wire.length === 0 ? [] : [{ name, target, message: decodeAll(payloads, target), wire, isLate }]
}

/** Returns the detail without what says nothing: empty texts, null, and a maker that is not known. */
const bare = ({ via: _via, provider: _provider, ...detail }: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries({ format: 'unknown', ...detail }).map(([name, value]) =>
      name === 'format' && value === null ? [name, 'unknown'] : [name, value === '' ? undefined : value],
    ),
  )

describe.skipIf(!exists)('recorded details', () => {
  const answers = exists
    ? FOLDERS.flatMap(folder =>
        readdirSync(new URL(folder, WIRE))
          .filter(file => file.startsWith('chat-completions__'))
          .flatMap(file => readAnswer(folder, file)),
      )
    : []

  test('none of the recordings is missing', () => {
    expect(answers.length).toBeGreaterThan(40)
    expect(answers.filter(({ isLate }) => isLate).map(({ name }) => name)).toHaveLength(1)
  })

  test.each(answers.map(answer => [answer.name, answer] as const))(
    '%s: decoded whole, and back to who made it',
    (_, { target, message, wire, isLate }) => {
      const details = (message.reasoning_details ?? []) as unknown as JsonObject[]
      expect(details.map(bare)).toEqual(wire.map(bare))
      for (const detail of details) expect(detail.via).toBe(target.provider.id)
      const kept = sendBack({ ...standard(message), reasoning_details: details }, target)
      expect(toObjects(kept.reasoning_details as never).map(bare)).toEqual(wire.map(bare))
      if (message.tool_calls === undefined || isLate) return
      const lost = sendBack(standard(message), target)
      expect(toObjects(lost.reasoning_details as never).map(bare)).toEqual(wire.map(bare))
      const ids = message.tool_calls.map(({ id }) => plainToolCallId(id))
      expect(toObjects(lost.tool_calls as never).map(({ id }) => id)).toEqual(ids)
    },
  )
})

describe('what a provider may write without end is bounded', () => {
  const message = (details: readonly JsonObject[]): JsonObject => ({
    id: 'gen-1',
    choices: [
      { index: 0, message: { role: 'assistant', reasoning_details: [...details] }, finish_reason: 'stop' },
    ],
  })
  const detail = (index: number): JsonObject => ({ ...TEXT, text: 'a', index, id: `d${index}` })

  test('2,048 details of one answer are read, and one more is refused', () => {
    const details = Array.from({ length: 2_048 }, (_, index) => detail(index))
    const { choices } = openAiChat.decodeReply(message(details), OPENROUTER)
    expect(choices[0]?.message.reasoning_details).toHaveLength(2_048)
    const more = message([...details, detail(2_048)])
    expect(() => openAiChat.decodeReply(more, OPENROUTER)).toThrow('more than 2048 pieces of reasoning')
  })

  test('so are those of a stream, however they are divided into frames', () => {
    const decoder = openAiChat.openStream(OPENROUTER)
    expect(() => {
      for (let frame = 0; frame < 300; frame++) {
        const details = Array.from({ length: 10 }, (_, at) => detail(frame * 10 + at))
        decoder.decode(chunk({ reasoning_details: details }))
      }
    }).toThrow('more than 2048 pieces of reasoning')
  })

  test('a stream of one detail may have any number of pieces', () => {
    const decoder = openAiChat.openStream(OPENROUTER)
    for (let at = 0; at < 5_000; at++) decoder.decode(chunk({ reasoning_details: [{ ...TEXT, text: 'a' }] }))
    const events = decoder.decode(chunk({}, 'stop'))
    const text = events.flatMap(event => (event.type === 'delta' ? (event.reasoningDetails ?? []) : []))[0]
      ?.text
    expect(text).toBe('a'.repeat(5_000))
  })
})
