import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { openSseParser } from '../../../frames/sse.ts'
import type { JsonObject } from '../../../json/json-value.ts'
import { custom } from '../../../providers/custom.ts'
import type { ChatReply } from '../../../reply/chat-reply.ts'
import type { StreamEvent } from '../../../stream/stream-event.ts'
import type { Target } from '../../../upstream/target.ts'
import type { Usage } from '../../../usage/usage.ts'
import { openAiChat } from '../../openai-chat/client/client.ts'
import { encodeReply as encodeChatReply } from '../../openai-chat/server/encode-reply.ts'
import { openChunkEncoder } from '../../openai-chat/server/encode-stream.ts'
import type { ClientFormat } from '../../shared/client-format.ts'
import type { ToolKind } from '../../shared/requests/parsed-chat.ts'
import { openAiResponses } from '../client/client.ts'
import { encodeReply, openEventEncoder } from './encode-events.ts'
import type { ResponseHead } from './response-head.ts'

/** OpenAI's published schemas and recorded exchanges, beside the repository. */
const WIRE = new URL('../../../../../../shared/wire/', import.meta.url)
const SCHEMAS = new URL('openai-schemas.json', WIRE)
const exists = existsSync(SCHEMAS)
if (!exists) console.log('skipped: the schemas of ../shared/wire are not there (4 schemas, 950 exchanges)')

const target: Target = { provider: custom, model: 'm', baseUrl: 'https://example.com/v1', apiKey: '' }
const NOTHING_USED: Usage = { uncachedInput: 1, cacheRead: 0, cacheWrite: 0, output: 1, reasoning: 0 }
const head = (calledTools: readonly [string, ToolKind][] = []): ResponseHead => ({
  id: 'resp_0190f5f8-0000-7000-8000-000000000000',
  created: 1_700_000_000,
  model: 'openai/gpt-5',
  echo: {
    instructions: 'Be brief',
    max_output_tokens: 100,
    metadata: { a: 'b' },
    parallel_tool_calls: true,
    reasoning: { effort: 'low', summary: 'auto' },
    temperature: 1,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [
      { type: 'function', name: 'now', parameters: null, strict: null },
      { type: 'custom', name: 'patch' },
      { type: 'local_shell' },
    ],
    top_p: null,
  },
  calledTools: new Map(calledTools.map(([name, kind]) => [name, { kind, name }])),
})

let valid: Record<'response' | 'event' | 'chat' | 'chunk', ValidateFunction>

beforeAll(() => {
  if (!exists) return
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  ajv.addSchema(JSON.parse(readFileSync(SCHEMAS, 'utf8')), 'openai')
  const of = (name: string): ValidateFunction => ajv.compile({ $ref: `openai#/components/schemas/${name}` })
  valid = {
    response: of('Response'),
    event: of('ResponseStreamEvent'),
    chat: of('CreateChatCompletionResponse'),
    chunk: of('CreateChatCompletionStreamResponse'),
  }
})

function expectValid(kind: keyof typeof valid, value: unknown): void {
  const check = valid[kind]
  if (check(value) !== true) {
    const errors = (check.errors ?? [])
      .slice(0, 8)
      .map(({ instancePath, message }) => `${instancePath} ${message}`)
    throw new Error(`${JSON.stringify(value).slice(0, 600)}\n${errors.join('\n')}`)
  }
}

interface Recording {
  readonly name: string
  readonly format: ClientFormat
  readonly body: string
  readonly payloads: readonly string[]
  readonly isStream: boolean
}

function readAll(): Recording[] {
  const folders = readdirSync(WIRE, { withFileTypes: true }).filter(each => each.isDirectory())
  return folders.flatMap(({ name: folder }) =>
    readdirSync(new URL(folder, WIRE))
      .filter(file => file.startsWith('responses__') || file.startsWith('chat-completions__'))
      .map(file => {
        const { response } = JSON.parse(readFileSync(new URL(`${folder}/${file}`, WIRE), 'utf8'))
        const payloads: string[] = response.chunks ?? []
        const body = typeof response.body === 'string' ? response.body : ''
        const isStream = file.includes('__stream__')
        if (isStream && body !== '') {
          const parser = openSseParser(({ data }) => payloads.push(data))
          parser.push(Buffer.from(body))
          parser.end()
        }
        const format = file.startsWith('responses__') ? openAiResponses : openAiChat
        const ok = response.status === 200
        return ok ? { name: `${folder}/${file}`, format, body, payloads, isStream } : undefined
      })
      .filter(each => each !== undefined),
  )
}

const all = exists ? readAll() : []

function decodePlain({ format, body }: Recording): ChatReply {
  return format.decodeReply(JSON.parse(body) as JsonObject, target)
}

function decodeStream({ format, payloads }: Recording): StreamEvent[] {
  const decoder = format.openStream(target)
  const events = payloads.flatMap(data => decoder.decode(data))
  const end = events.findIndex(({ type }) => type === 'end')
  return end < 0 ? events : events.slice(0, end)
}

/** The whole stream of this format that the events become. */
function toEvents(events: readonly StreamEvent[], of = head()): JsonObject[] {
  const encoder = openEventEncoder(of)
  const written = events.flatMap(event => (event.type === 'delta' ? encoder.add(event) : []))
  const finish = events.findLast(event => event.type === 'delta' && event.finishReason !== undefined)
  const reason = finish?.type === 'delta' ? (finish.finishReason ?? 'stop') : 'stop'
  return [...written, ...encoder.finish(reason, NOTHING_USED)]
}

describe.skipIf(!exists)('what we write of recorded answers is strictly valid', () => {
  test('all recordings are found', () => {
    expect(all.length).toBeGreaterThan(940)
  })

  test('a complete answer is a valid response', () => {
    for (const recording of all.filter(({ isStream }) => !isStream)) {
      const { choices } = decodePlain(recording)
      for (const { message, finishReason } of choices) {
        expectValid('response', encodeReply(head(), message, finishReason, NOTHING_USED))
      }
    }
  })

  test('a stream has valid events of a response', () => {
    for (const recording of all.filter(({ isStream }) => isStream)) {
      for (const event of toEvents(decodeStream(recording))) expectValid('event', event)
    }
  })

  test('a response is a valid chat completion and valid chunks', () => {
    const envelope = { id: 'chatcmpl-x', created: 1_700_000_000, model: 'openai/gpt-5' }
    for (const recording of all.filter(({ format }) => format === openAiResponses)) {
      if (!recording.isStream) {
        const reply = decodePlain(recording)
        if (reply.choices.length > 0)
          expectValid('chat', encodeChatReply({ ...reply, usage: NOTHING_USED }, envelope))
        continue
      }
      const encoder = openChunkEncoder(envelope, { includeUsage: true })
      for (const event of decodeStream(recording)) {
        for (const chunk of encoder.encode(event)) expectValid('chunk', chunk)
      }
    }
  })
})

const delta = fc.oneof(
  fc.record({ content: fc.string({ minLength: 1 }) }),
  fc.record({ reasoning: fc.string({ minLength: 1 }) }),
  fc.record({ refusal: fc.string({ minLength: 1 }) }),
  fc.record({
    reasoningDetails: fc.constant([
      { type: 'reasoning.text' as const, format: 'anthropic-claude-v1' as const, text: 'Hm', signature: 's' },
    ]),
  }),
  fc.record({
    call: fc.nat({ max: 3 }),
    name: fc.constantFrom('now', 'patch', 'local_shell'),
    text: fc.constantFrom('', '{"input":"x"}', '{"command":["ls"]}', '{"a', 'null'),
  }),
)

/** Deltas as a decoder returns them: the first fragment of a call has its name and id. */
function toDeltas(parts: readonly (typeof delta extends fc.Arbitrary<infer T> ? T : never)[]): StreamEvent[] {
  const known = new Map<number, number>()
  return parts.map(part => {
    if (!('call' in part)) return { type: 'delta', index: 0, ...part }
    const index = known.get(part.call)
    if (index !== undefined) {
      return { type: 'delta', index: 0, toolCalls: [{ index, function: { arguments: part.text } }] }
    }
    known.set(part.call, known.size)
    const fn = { name: part.name, arguments: part.text }
    const call = { index: known.size - 1, id: `call_${part.call}`, type: 'function' as const, function: fn }
    return { type: 'delta', index: 0, toolCalls: [call] }
  })
}

const kinds: readonly [string, ToolKind][] = [
  ['patch', 'custom'],
  ['local_shell', 'local_shell'],
]

describe('any stream that the gateway writes', () => {
  const run = (check: (events: JsonObject[]) => void): void =>
    fc.assert(
      fc.property(fc.array(delta, { maxLength: 14 }), parts => check(toEvents(toDeltas(parts), head(kinds)))),
      { numRuns: 80 },
    )

  test.skipIf(!exists)('is strictly valid', () => {
    run(events => {
      for (const event of events) expectValid('event', event)
    })
  })

  test('numbers its events, and opens and closes every item once, in order', () => {
    run(events => {
      expect(events.map(event => event.sequence_number)).toEqual(events.map((_, at) => at))
      const indices = (type: string): unknown[] =>
        events.filter(event => event.type === type).map(each => each.output_index)
      const added = indices('response.output_item.added')
      expect(added).toEqual(added.map((_, at) => at))
      expect([...indices('response.output_item.done')].sort()).toEqual([...added].sort())
      expect(events.at(-1)?.type).toBe('response.completed')
    })
  })

  test('has all its items in the last event too', () => {
    run(events => {
      const done = events
        .filter(({ type }) => type === 'response.output_item.done')
        .sort((a, b) => Number(a.output_index) - Number(b.output_index))
        .map(({ item }) => item)
      expect((events.at(-1)?.response as JsonObject).output).toEqual(done)
    })
  })

  test('decodes to the events that it was written from', () => {
    run(events => {
      const decoder = openAiResponses.openStream(target)
      const streamed = events.flatMap(event => decoder.decode(JSON.stringify(event)))
      const whole = openAiResponses.decodeReply(events.at(-1)?.response as JsonObject, target)
      const text = streamed.map(event => (event.type === 'delta' ? (event.content ?? '') : '')).join('')
      expect(text).toBe(whole.choices[0]?.message.content ?? '')
    })
  })
})
