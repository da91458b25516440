import { existsSync, readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openFrames } from '../../../frames/open-frames.ts'
import type { JsonObject } from '../../../json/json-value.ts'
import { toObject, toObjects } from '../../../json/json-value.ts'
import { custom } from '../../../providers/custom.ts'
import type { FinishReason } from '../../../reply/chat-reply.ts'
import type { StreamEvent } from '../../../stream/stream-event.ts'
import type { Target } from '../../../upstream/target.ts'
import type { Usage } from '../../../usage/usage.ts'
import { inputTokens, outputTokens } from '../../../usage/usage-sums.ts'
import { plainToolCallId } from '../../shared/reasoning/reasoning-carrier.ts'
import { anthropicMessages } from './client.ts'

/** Recorded traffic, kept beside the repository. Without it these tests are skipped. */
const WIRE = new URL('../../../../../../shared/wire/', import.meta.url)
const exists = existsSync(WIRE)
if (!exists) console.log('skipped: the recordings of ../shared/wire are not there (225 exchanges)')

interface Recording {
  readonly name: string
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: string
  readonly payloads: readonly string[]
  /** The stream as received, or as the provider would have sent it. */
  readonly bytes: Buffer
  readonly isStream: boolean
  readonly model: string
}

const target: Target = { provider: custom, model: 'claude-sonnet-5', baseUrl: 'https://x/v1', apiKey: '' }

function readAll(): Recording[] {
  return ['anthropic', 'vertex'].flatMap(folder =>
    readdirSync(new URL(folder, WIRE))
      .filter(file => file.startsWith('messages__'))
      .map(file => readOne(folder, file)),
  )
}

function readOne(folder: string, file: string): Recording {
  const { response, model } = JSON.parse(readFileSync(new URL(`${folder}/${file}`, WIRE), 'utf8'))
  const isStream = file.includes('__stream__')
  const chunks: string[] = response.chunks ?? []
  const text =
    chunks.length > 0
      ? chunks.map(data => `event: ${JSON.parse(data).type}\ndata: ${data}\n\n`).join('')
      : response.body
  const payloads: string[] = []
  if (isStream) {
    const parser = openFrames('sse', ({ data }) => payloads.push(data))
    parser.push(Buffer.from(text))
    parser.end()
  }
  return {
    name: `${folder}/${file}`,
    status: response.status,
    headers: response.headers ?? {},
    body: response.body ?? '',
    payloads,
    bytes: Buffer.from(text ?? ''),
    isStream,
    model,
  }
}

const FINISH: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
}

interface PlainReply {
  text: string
  thinking: string
  calls: { id: string; name: string; arguments: unknown }[]
  signatures: string[]
  finish: string | undefined
  usage: JsonObject
}

/** Adds up an answer by the format's documentation alone, without the gateway's decoder. */
function sumWire(payloads: readonly string[]): PlainReply {
  const sum: PlainReply = { text: '', thinking: '', calls: [], signatures: [], finish: undefined, usage: {} }
  let blocks: { block: JsonObject; json: string; call: PlainReply['calls'][number] | undefined }[] = []
  for (const data of payloads) {
    const event = JSON.parse(data) as JsonObject
    const delta = toObject(event.delta) ?? {}
    const open = blocks[Number(event.index)]
    if (event.type === 'message_start') {
      blocks = []
      sum.usage = { ...sum.usage, ...toObject(toObject(event.message)?.usage) }
    } else if (event.type === 'content_block_start') {
      const block = toObject(event.content_block) ?? {}
      const call =
        block.type === 'tool_use'
          ? { id: String(block.id), name: String(block.name), arguments: block.input ?? {} }
          : undefined
      if (call !== undefined) sum.calls.push(call)
      blocks[Number(event.index)] = { block, json: '', call }
      if (block.type === 'text') sum.text += block.text
      if (block.type === 'thinking') sum.thinking += block.thinking
    } else if (delta.type === 'text_delta') sum.text += delta.text
    else if (delta.type === 'thinking_delta') sum.thinking += delta.thinking
    else if (delta.type === 'signature_delta') sum.signatures.push(String(delta.signature))
    else if (delta.type === 'input_json_delta' && open?.call !== undefined) {
      open.json += delta.partial_json
      open.call.arguments = open.json
    } else if (event.type === 'message_delta') {
      if (typeof delta.stop_reason === 'string') sum.finish = delta.stop_reason
      sum.usage = { ...sum.usage, ...toObject(event.usage) }
    }
  }
  return sum
}

function expectUsage(usage: Usage | undefined, wire: JsonObject): void {
  const count = (name: string): number => Number(wire[name] ?? 0)
  for (const bucket of Object.values(usage ?? {}))
    expect(Number.isSafeInteger(bucket) && bucket >= 0).toBe(true)
  expect(usage === undefined ? 0 : inputTokens(usage)).toBe(
    count('input_tokens') + count('cache_read_input_tokens') + count('cache_creation_input_tokens'),
  )
  expect(usage?.cacheRead ?? 0).toBe(count('cache_read_input_tokens'))
  expect(usage === undefined ? 0 : outputTokens(usage)).toBe(count('output_tokens'))
  expect(usage?.reasoning ?? 0).toBe(Number(toObject(wire.output_tokens_details)?.thinking_tokens ?? 0))
}

const parse = (text: unknown): unknown => {
  if (typeof text !== 'string') return text
  try {
    return JSON.parse(text === '' ? '{}' : text)
  } catch {
    return text
  }
}

interface DecodedReply {
  content: string
  reasoning: string
  calls: { id: string; name: string; arguments: string }[]
  signatures: (string | undefined)[]
  finish: FinishReason | undefined
  usage: Usage | undefined
}

/** Adds events up as clients do. */
function addUp(events: readonly StreamEvent[]): DecodedReply {
  const added: DecodedReply = {
    content: '',
    reasoning: '',
    calls: [],
    signatures: [],
    finish: undefined,
    usage: undefined,
  }
  for (const event of events) {
    if (event.type === 'usage') added.usage = event.usage
    if (event.type !== 'delta') continue
    added.content += event.content ?? ''
    added.reasoning += event.reasoning ?? ''
    added.finish = event.finishReason ?? added.finish
    for (const detail of event.reasoningDetails ?? []) added.signatures.push(detail.signature)
    for (const call of event.toolCalls ?? []) {
      const known = added.calls[call.index]
      if (known === undefined) {
        added.calls[call.index] = {
          id: plainToolCallId(call.id ?? ''),
          name: call.function?.name ?? '',
          arguments: call.function?.arguments ?? '',
        }
      } else {
        expect([call.id, call.function?.name]).toEqual([undefined, undefined])
        known.arguments += call.function?.arguments ?? ''
      }
    }
  }
  return added
}

function decodePayloads(payloads: readonly string[]): StreamEvent[] {
  const decoder = anthropicMessages.openStream(target)
  return payloads.flatMap(data => decoder.decode(data))
}

const all = exists ? readAll() : []
const plain = all.filter(({ status, isStream }) => status === 200 && !isStream)
const streams = all.filter(({ status, isStream }) => status === 200 && isStream)
const named = (list: readonly Recording[]) => list.map(recording => [recording.name, recording] as const)

describe.skipIf(!exists)('recorded messages', () => {
  test('the number of recordings is unchanged', () => {
    expect(plain.length).toBeGreaterThan(120)
    expect(streams.length).toBeGreaterThan(80)
  })

  test.each(named(plain))('%s', (_, { body }) => {
    const wire = JSON.parse(body) as JsonObject
    const { choices, usage } = anthropicMessages.decodeReply(wire, target)
    const blocks = toObjects(wire.content)
    const of = (type: string) => blocks.filter(block => block.type === type)
    expect(choices).toHaveLength(1)
    const message = choices[0]?.message
    expect(message?.content ?? '').toBe(
      of('text')
        .map(({ text }) => text)
        .join(''),
    )
    expect(message?.reasoning ?? '').toBe(
      of('thinking')
        .map(({ thinking }) => thinking)
        .join(''),
    )
    expect(
      (message?.tool_calls ?? []).map(call => [
        plainToolCallId(call.id),
        call.function.name,
        JSON.parse(call.function.arguments),
      ]),
    ).toEqual(of('tool_use').map(({ id, name, input }) => [id, name, input]))
    expect(message?.reasoning_details?.map(({ signature }) => signature) ?? []).toEqual(
      of('thinking').flatMap(({ signature }) => (signature === undefined ? [] : [signature])),
    )
    if (typeof wire.stop_reason === 'string') {
      expect(choices[0]?.finishReason).toBe(FINISH[wire.stop_reason])
    }
    expectUsage(usage, toObject(wire.usage) ?? {})
  })

  test.each(named(streams))('%s', (_, { payloads }) => {
    const [first = '{}'] = payloads
    const whole = JSON.parse(first) as JsonObject
    const naive = sumWire(whole.type === 'message' ? toPayloads(whole) : payloads)
    const events = decodePayloads(payloads)
    const added = addUp(events)
    expect(added.content).toBe(naive.text)
    expect(added.reasoning).toBe(naive.thinking)
    expect(added.calls.map(({ id, name, arguments: text }) => [id, name, parse(text)])).toEqual(
      naive.calls.map(({ id, name, arguments: input }) => [id, name, parse(input)]),
    )
    expect(added.signatures).toEqual(naive.signatures)
    if (naive.finish !== undefined) expect(added.finish).toBe(FINISH[naive.finish])
    expectUsage(added.usage, naive.usage)
    expect(events.at(-1)).toEqual({ type: 'end' })
  })

  test('any re-chunking of a stream decodes to the same events', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...streams),
        fc.array(fc.nat(), { maxLength: 30 }),
        ({ bytes, payloads }, cuts) => {
          const at = [0, ...cuts.map(cut => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b)
          const decoder = anthropicMessages.openStream(target)
          const events: StreamEvent[] = []
          const parser = openFrames(anthropicMessages.framing, ({ data, event }) =>
            events.push(...decoder.decode(data, event)),
          )
          for (const [index, end] of at.entries()) parser.push(bytes.subarray(at[index - 1] ?? 0, end))
          parser.end()
          expect(events).toEqual(decodePayloads(payloads))
        },
      ),
      { numRuns: 200 },
    )
  })

  test.each(named(all.filter(({ status }) => status >= 400)))('%s', (_, { status, headers, body }) => {
    const { kind } = anthropicMessages.decodeError(status, headers, body)
    expect(kind).toBe(
      status === 401
        ? 'auth'
        : status === 404
          ? 'model_not_found'
          : body.includes('prompt is too long')
            ? 'context_length'
            : 'bad_request',
    )
  })

  test('an answer decodes to the same reply, plain or streamed', () => {
    for (const { body } of plain) {
      const wire = JSON.parse(body) as JsonObject
      const { choices, usage } = anthropicMessages.decodeReply(wire, target)
      const added = addUp(decodePayloads(toPayloads(wire)))
      const message = choices[0]?.message
      expect(added.content).toBe(message?.content ?? '')
      expect(added.reasoning).toBe(message?.reasoning ?? '')
      expect(added.calls.map(call => call.arguments)).toEqual(
        (message?.tool_calls ?? []).map(call => call.function.arguments),
      )
      expect(added.usage).toEqual(usage)
      if (wire.stop_reason !== null) expect(added.finish).toBe(choices[0]?.finishReason)
    }
  })
})

/** Returns the events that the format's documentation gives for a plain answer. */
function toPayloads(message: JsonObject): string[] {
  const { content, stop_reason, stop_details, usage, ...rest } = message
  const start = { ...rest, content: [], usage: { ...toObject(usage), output_tokens: 1 } }
  const blocks = toObjects(content).flatMap((block, index): JsonObject[] => [
    { type: 'content_block_start', index, content_block: { ...block, ...BEGINNINGS[String(block.type)] } },
    ...(DELTAS[String(block.type)]?.(block) ?? []).map(delta => ({
      type: 'content_block_delta',
      index,
      delta,
    })),
    { type: 'content_block_stop', index },
  ])
  return [
    { type: 'message_start', message: start },
    ...blocks,
    { type: 'message_delta', delta: { stop_reason, stop_details }, usage },
    { type: 'message_stop' },
  ].map(event => JSON.stringify(event))
}

const BEGINNINGS: Readonly<Record<string, JsonObject>> = {
  text: { text: '' },
  thinking: { thinking: '', signature: '' },
  tool_use: { input: {} },
}

const DELTAS: Readonly<Record<string, (block: JsonObject) => JsonObject[]>> = {
  text: ({ text }) => [{ type: 'text_delta', text }],
  thinking: ({ thinking, signature }) => [
    { type: 'thinking_delta', thinking },
    { type: 'signature_delta', signature },
  ],
  tool_use: ({ input }) => [{ type: 'input_json_delta', partial_json: JSON.stringify(input) }],
}
