import { existsSync, readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openSseParser } from '../../../frames/sse.ts'
import type { JsonObject } from '../../../json/json-value.ts'
import { toObject, toObjects } from '../../../json/json-value.ts'
import { custom } from '../../../providers/custom.ts'
import { findProvider } from '../../../providers/index.ts'
import type { ChatReply, ReplyMessage } from '../../../reply/chat-reply.ts'
import type { StreamEvent } from '../../../stream/stream-event.ts'
import type { Target } from '../../../upstream/target.ts'
import type { Usage } from '../../../usage/usage.ts'
import { plainToolCallId } from '../../shared/reasoning/reasoning-carrier.ts'
import { openAiResponses } from './client.ts'

/** Recorded exchanges beside the repository. A clone without them runs the hand-written tests only. */
const WIRE = new URL('../../../../../../shared/wire/', import.meta.url)
const FOLDERS = ['openai', 'azure', 'xai', 'deepseek', 'bedrock', 'openrouter', 'selfhosted']
/** Matches recordings that are no responses: counts of tokens, and one chat completion. */
const NO_RESPONSE = /"object":\s*"response\.input_tokens"|"choices":/

interface Recording {
  readonly name: string
  readonly target: Target
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: string
  readonly payloads: readonly string[]
  readonly isStream: boolean
}

function readAll(): Recording[] {
  return FOLDERS.flatMap(folder =>
    readdirSync(new URL(folder, WIRE))
      .filter(file => file.startsWith('responses__'))
      .map(file => readOne(folder, file)),
  )
}

function readOne(folder: string, file: string): Recording {
  const { response, model } = JSON.parse(readFileSync(new URL(`${folder}/${file}`, WIRE), 'utf8'))
  const provider = findProvider(folder) ?? custom
  const isStream = file.includes('__stream__')
  const payloads: string[] = response.chunks ?? []
  if (isStream && typeof response.body === 'string') payloads.push(...framesOf(response.body))
  // One recording holds three answers in a row.
  const end = payloads.findIndex(data => data.startsWith('{"type":"response.completed"'))
  if (end >= 0) payloads.splice(end + 1)
  const target = { provider, model, baseUrl: 'https://example.com/v1', apiKey: '' }
  const body = typeof response.body === 'string' ? response.body : ''
  return { name: `${folder}/${file}`, target, status: response.status, headers: {}, body, payloads, isStream }
}

function framesOf(body: string): string[] {
  const payloads: string[] = []
  const parser = openSseParser(({ data }) => payloads.push(data))
  parser.push(Buffer.from(body))
  parser.end()
  return payloads
}

/** Decodes a response by the format's documentation alone. */
function readNaively(response: JsonObject) {
  const items = toObjects(response.output)
  const parts = items.filter(({ type }) => type === 'message').flatMap(item => toObjects(item.content))
  const calls = items.filter(({ type }) => type === 'function_call' || type === 'custom_tool_call')
  return {
    content: parts
      .filter(({ type }) => type === 'output_text')
      .map(({ text }) => text)
      .join(''),
    calls: calls.map(item => ({
      id: item.call_id,
      name: item.name,
      arguments:
        item.type === 'function_call' ? item.arguments || '{}' : JSON.stringify({ input: item.input }),
    })),
    encrypted: items
      .filter(
        ({ type, encrypted_content: data }) =>
          type === 'reasoning' && typeof data === 'string' && data !== '',
      )
      .map(item => item.encrypted_content),
  }
}

function checkMessage(message: ReplyMessage, response: JsonObject): void {
  const naive = readNaively(response)
  expect(message.content ?? '').toBe(naive.content)
  const calls = message.tool_calls ?? []
  expect(calls.map(({ id, function: fn }) => ({ id: plainToolCallId(id), ...fn }))).toEqual(naive.calls)
  const details = message.reasoning_details ?? []
  expect(details.filter(({ type }) => type === 'reasoning.encrypted').map(({ data }) => data)).toEqual(
    naive.encrypted,
  )
}

function checkFinish(finish: string | undefined, response: JsonObject): void {
  if (response.status === 'incomplete') {
    const reason = toObject(response.incomplete_details)?.reason
    expect(finish).toBe(reason === 'content_filter' ? 'content_filter' : 'length')
  } else expect(finish).toBe(readNaively(response).calls.length > 0 ? 'tool_calls' : 'stop')
}

function checkUsage(usage: Usage | undefined, response: JsonObject): void {
  const wire = toObject(response.usage)
  if (wire === undefined || wire.total_tokens === 0) return
  if (usage === undefined) throw new Error('usage was lost')
  const { uncachedInput, cacheRead, cacheWrite, output, reasoning } = usage
  expect(uncachedInput + cacheRead + cacheWrite).toBe(wire.input_tokens)
  expect(output + reasoning).toBe(wire.output_tokens)
  expect(uncachedInput + cacheRead + cacheWrite + output + reasoning).toBe(wire.total_tokens)
  expect(cacheRead).toBe(toObject(wire.input_tokens_details)?.cached_tokens ?? 0)
  expect(reasoning).toBe(toObject(wire.output_tokens_details)?.reasoning_tokens ?? 0)
}

function decodeAll(recording: Recording): StreamEvent[] {
  const decoder = openAiResponses.openStream(recording.target)
  return recording.payloads.flatMap(data => decoder.decode(data))
}

/** Adds up the pieces of a stream as clients do. */
function addUp(events: readonly StreamEvent[]): ChatReply {
  const message: ReplyMessage = { role: 'assistant', content: null }
  const calls: NonNullable<ReplyMessage['tool_calls']> = []
  let finishReason: ChatReply['choices'][number]['finishReason'] | undefined
  let usage: Usage | undefined
  for (const event of events) {
    if (event.type === 'usage') usage = event.usage
    if (event.type !== 'delta') continue
    if (event.content !== undefined) message.content = (message.content ?? '') + event.content
    if (event.reasoning !== undefined) message.reasoning = (message.reasoning ?? '') + event.reasoning
    if (event.refusal !== undefined) message.refusal = (message.refusal ?? '') + event.refusal
    if (event.reasoningDetails !== undefined) {
      message.reasoning_details = [...(message.reasoning_details ?? []), ...event.reasoningDetails]
    }
    for (const { index, id, function: fn } of event.toolCalls ?? []) {
      const known = calls[index]
      if (known !== undefined) {
        expect([id, fn?.name]).toEqual([undefined, undefined])
        known.function.arguments += fn?.arguments ?? ''
      } else {
        calls[index] = {
          id: id ?? '',
          type: 'function',
          function: { name: fn?.name ?? '', arguments: fn?.arguments ?? '' },
        }
      }
    }
    finishReason = event.finishReason ?? finishReason
  }
  if (calls.length > 0) message.tool_calls = calls
  return { choices: finishReason === undefined ? [] : [{ index: 0, message, finishReason }], usage }
}

/**
 * The last event's response with the items of earlier events: its own items are encrypted again, and some recordings have
 * none.
 */
function toWhole(payloads: readonly string[], final: JsonObject): JsonObject {
  const frames = payloads.filter(data => data !== '[DONE]').map(data => JSON.parse(data) as JsonObject)
  const done = frames
    .filter(({ type }) => type === 'response.output_item.done')
    .sort((a, b) => Number(a.output_index) - Number(b.output_index))
    .map(({ item }) => item as JsonObject)
  return done.length === 0 ? final : { ...final, output: done }
}

function findFinal(payloads: readonly string[]): JsonObject | undefined {
  for (const data of payloads) {
    const frame = data === '[DONE]' ? {} : (JSON.parse(data) as JsonObject)
    if (frame.type === 'response.completed' || frame.type === 'response.incomplete')
      return toObject(frame.response)
  }
  return undefined
}

const exists = existsSync(WIRE)
if (!exists) console.log('skipped: the recordings of ../shared/wire are not there (338 exchanges)')
const all = exists ? readAll() : []
const plain = all.filter(
  ({ status, isStream, body }) => status === 200 && !isStream && !NO_RESPONSE.test(body),
)
const streams = all.filter(({ status, isStream }) => status === 200 && isStream)
const whole = streams.filter(({ payloads }) => findFinal(payloads) !== undefined)
const named = (recordings: readonly Recording[]) => recordings.map(each => [each.name, each] as const)

describe.skipIf(!exists)('recorded responses', () => {
  test('are all found', () => {
    expect([plain.length, streams.length]).toEqual([expect.any(Number), expect.any(Number)])
    expect(plain.length).toBeGreaterThan(215)
    expect(whole.length).toBeGreaterThan(95)
  })

  test.each(named(plain))('%s', (_, { body, target }) => {
    const response = JSON.parse(body) as JsonObject
    const reply = openAiResponses.decodeReply(response, target)
    expect(reply.choices).toHaveLength(1)
    const [choice] = reply.choices
    checkMessage(choice?.message as ReplyMessage, response)
    checkFinish(choice?.finishReason, response)
    checkUsage(reply.usage, response)
  })

  test.each(named(whole))('%s: the pieces add up to the response of the last event', (_, recording) => {
    const response = toWhole(recording.payloads, findFinal(recording.payloads) as JsonObject)
    const events = decodeAll(recording)
    expect(events.at(-1)).toEqual({ type: 'end' })
    const streamed = addUp(events)
    checkMessage(streamed.choices[0]?.message as ReplyMessage, response)
    checkFinish(streamed.choices[0]?.finishReason, response)
    checkUsage(streamed.usage, response)
    // The same response decodes alike if it was not streamed.
    expect(streamed).toEqual(openAiResponses.decodeReply(response, recording.target))
  })

  test('a failed response is an error with its cause', () => {
    const failed = streams.filter(
      ({ payloads }) =>
        findFinal(payloads) === undefined && payloads.some(data => data.includes('"error":{')),
    )
    const errors = failed.map(each => decodeAll(each).find(event => event.type === 'error'))
    expect(errors).toEqual([{ type: 'error', error: expect.objectContaining({ kind: 'quota' }) }])
  })

  test.each(named(all.filter(({ status }) => status !== 200)))(
    '%s: an error status has its cause',
    (name, recording) => {
      const { kind } = openAiResponses.decodeError(recording.status, recording.headers, recording.body)
      const expected =
        recording.status === 401
          ? 'auth'
          : recording.status === 429
            ? 'quota'
            : /model_not_found/.test(recording.body)
              ? 'model_not_found'
              : 'bad_request'
      expect([name, kind]).toEqual([name, expected])
    },
  )

  test('a stream decodes alike however its bytes are cut', () => {
    const samples = whole
      .filter((_, at) => at % 9 === 0)
      .map(each => {
        const bytes = Buffer.from(each.payloads.map(data => `event: x\r\ndata: ${data}\r\n\r\n`).join(''))
        return { bytes, expected: decodeAll(each), target: each.target }
      })
    fc.assert(
      fc.property(
        fc.constantFrom(...samples),
        fc.array(fc.nat(), { maxLength: 12 }),
        ({ bytes, expected, target }, cuts) => {
          const decoder = openAiResponses.openStream(target)
          const events: StreamEvent[] = []
          const parser = openSseParser(({ data, event }) => events.push(...decoder.decode(data, event)))
          const places = [...cuts.map(cut => cut % bytes.length), bytes.length].sort((a, b) => a - b)
          let from = 0
          for (const to of places) {
            parser.push(bytes.subarray(from, to))
            from = to
          }
          parser.end()
          expect(events).toEqual(expected)
        },
      ),
      { numRuns: 60 },
    )
  })
})
