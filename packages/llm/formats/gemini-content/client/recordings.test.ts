import { existsSync, readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openFrames } from '../../../frames/open-frames.ts'
import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObject, toObjects } from '../../../json/json-value.ts'
import { findProvider } from '../../../providers/index.ts'
import type { ChatReply } from '../../../reply/chat-reply.ts'
import type { StreamEvent } from '../../../stream/stream-event.ts'
import type { Target } from '../../../upstream/target.ts'
import type { Usage } from '../../../usage/usage.ts'
import { unpackToolCallId } from '../../shared/reasoning/reasoning-carrier.ts'
import { geminiContent } from './client.ts'
import { decodeReply } from './decode-reply.ts'

/** Recorded exchanges beside the repository. A clone without them runs the hand-written tests only. */
const WIRE = new URL('../../../../../../shared/wire/', import.meta.url)

interface Recording {
  readonly name: string
  readonly target: Target
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: string
  /** The chunks of a stream in their order, or the only answer. */
  readonly chunks: readonly JsonObject[]
  readonly isStream: boolean
  /** The bytes of the stream; absent if they were not recorded. */
  readonly bytes: Buffer | undefined
}

function readAll(): Recording[] {
  return ['gemini', 'vertex'].flatMap(folder =>
    readdirSync(new URL(folder, WIRE))
      .filter(file => file.startsWith('generateContent__'))
      .map(file => readOne(folder, file)),
  )
}

function readOne(folder: string, file: string): Recording {
  const { response, model } = JSON.parse(readFileSync(new URL(`${folder}/${file}`, WIRE), 'utf8'))
  const body: string = response.body ?? ''
  const isStream = file.includes('__stream__')
  const payloads: string[] = response.chunks ?? (isStream ? payloadsOf(Buffer.from(body)) : [body])
  const provider = findProvider(folder)
  if (provider === undefined) throw new Error(folder)
  return {
    name: `${folder}/${file}`,
    target: { provider, model: model ?? 'gemini', baseUrl: 'https://example.com/v1', apiKey: '' },
    status: response.status,
    headers: response.headers ?? {},
    body,
    chunks: payloads.flatMap(payload => toObjects([JSON.parse(payload)].flat() as Json[])),
    isStream,
    bytes: isStream && body !== '' ? Buffer.from(body) : undefined,
  }
}

function payloadsOf(...pieces: readonly Buffer[]): string[] {
  const payloads: string[] = []
  const parser = openFrames('sse', ({ data }) => payloads.push(data))
  for (const piece of pieces) parser.push(piece)
  parser.end()
  return payloads
}

/** Decodes an answer by adding its parts up. */
interface PlainReply {
  content: string
  reasoning: string
  calls: { name: string; args: Json }[]
  signatures: string[]
  finish: Json | undefined
}

function sumWire(chunks: readonly JsonObject[]): PlainReply {
  const sum: PlainReply = { content: '', reasoning: '', calls: [], signatures: [], finish: undefined }
  for (const chunk of chunks) {
    for (const candidate of toObjects(chunk.candidates)) {
      sum.finish = candidate.finishReason ?? sum.finish
      for (const part of toObjects(toObject(candidate.content)?.parts)) {
        const text = typeof part.text === 'string' ? part.text : ''
        if (part.thought === true) sum.reasoning += text
        else sum.content += text
        const call = toObject(part.functionCall)
        if (call?.name !== undefined) sum.calls.push({ name: String(call.name), args: call.args ?? {} })
        else if (call !== undefined) addPartial(sum.calls.at(-1), call)
        const isOwn = part.text !== undefined || call !== undefined || Object.keys(part).length === 1
        if (isOwn && typeof part.thoughtSignature === 'string') sum.signatures.push(part.thoughtSignature)
      }
    }
    if (toObject(chunk.promptFeedback)?.blockReason !== undefined) sum.finish = 'SAFETY'
  }
  return sum
}

/** Arguments from their pieces. The recorded paths have plain names and numbers only. */
function addPartial(into: { args: Json } | undefined, call: JsonObject): void {
  for (const piece of toObjects(call.partialArgs)) {
    const steps = String(piece.jsonPath).slice(2).replaceAll(']', '').split(/[.[]/)
    let at = into?.args as Record<string, any>
    for (const [depth, step] of steps.entries()) {
      const next = steps[depth + 1]
      if (next !== undefined) at = at[step] ??= /^\d+$/.test(next) ? [] : {}
      else if (piece.stringValue !== undefined) at[step] = (at[step] ?? '') + piece.stringValue
      else at[step] = piece.numberValue ?? piece.boolValue ?? null
    }
  }
}

const FINISH: Readonly<Record<string, string>> = {
  STOP: 'stop',
  1: 'stop',
  OTHER: 'stop',
  MAX_TOKENS: 'length',
  SAFETY: 'content_filter',
}

function expectReply({ choices: [choice], usage }: ChatReply, chunks: readonly JsonObject[]): void {
  const naive = sumWire(chunks)
  const message = choice?.message
  expect(message?.content ?? '').toBe(naive.content)
  expect(message?.reasoning ?? '').toBe(naive.reasoning)
  const calls = message?.tool_calls ?? []
  expect(calls.map(({ function: fn }) => ({ name: fn.name, args: JSON.parse(fn.arguments) }))).toEqual(
    naive.calls,
  )
  expect(new Set(calls.map(({ id }) => id)).size).toBe(calls.length)
  expect(calls.every(({ id }) => /^[A-Za-z0-9_-]+$/.test(id))).toBe(true)
  // Every signature stands in the details and in an id, for clients that keep only one of them.
  expect((message?.reasoning_details ?? []).map(({ data }) => data)).toEqual(naive.signatures)
  const carried = calls.flatMap(({ id }) => unpackToolCallId(id).details.map(({ data }) => data))
  const ofCalls = (message?.reasoning_details ?? []).filter(({ id }) => id !== undefined)
  expect(carried).toEqual(ofCalls.map(({ data }) => data))
  const own = FINISH[String(naive.finish ?? 'STOP')]
  if (own === undefined) throw new Error(`unknown finish reason ${String(naive.finish)}`)
  expect(choice?.finishReason).toBe(own === 'stop' && calls.length > 0 ? 'tool_calls' : own)
  expectUsage(
    usage,
    toObject(chunks.findLast(chunk => toObject(chunk.usageMetadata)?.totalTokenCount)?.usageMetadata),
  )
}

function expectUsage(usage: Usage | undefined, wire: JsonObject | undefined): void {
  if (wire === undefined) return
  if (usage === undefined) throw new Error('no usage')
  const { uncachedInput, cacheRead, cacheWrite, output, reasoning } = usage
  for (const bucket of [uncachedInput, cacheRead, cacheWrite, output, reasoning]) {
    expect(Number.isSafeInteger(bucket) && bucket >= 0).toBe(true)
  }
  expect(uncachedInput + cacheRead + output + reasoning).toBe(wire.totalTokenCount)
  expect(uncachedInput + cacheRead).toBe(
    Number(wire.promptTokenCount) + Number(wire.toolUsePromptTokenCount ?? 0),
  )
  expect([cacheRead, reasoning]).toEqual([wire.cachedContentTokenCount ?? 0, wire.thoughtsTokenCount ?? 0])
}

function decodeStream(payloads: readonly string[], target: Target): StreamEvent[] {
  const decoder = geminiContent.openStream(target)
  return payloads.flatMap(data => decoder.decode(data))
}

/** Combines a stream as clients do. */
function collect(events: readonly StreamEvent[]): ChatReply {
  const deltas = events.filter(event => event.type === 'delta')
  const calls: { id: string; type: 'function'; function: { name: string; arguments: string } }[] = []
  for (const { index, id, function: fn } of deltas.flatMap(delta => delta.toolCalls ?? [])) {
    const known = calls[index]
    if (known === undefined) {
      calls[index] = {
        id: id ?? '',
        type: 'function',
        function: { name: fn?.name ?? '', arguments: fn?.arguments ?? '' },
      }
    } else {
      expect([id, fn?.name]).toEqual([undefined, undefined])
      known.function.arguments += fn?.arguments ?? ''
    }
  }
  const details = deltas.flatMap(delta => delta.reasoningDetails ?? [])
  expect(details.map(({ index }) => index)).toEqual(details.map((_, at) => at))
  const join = (texts: readonly (string | undefined)[]): string => texts.join('')
  const reasoning = join(deltas.map(delta => delta.reasoning))
  const content = join(deltas.map(delta => delta.content))
  const finishes = deltas.map(delta => delta.finishReason).filter(reason => reason !== undefined)
  expect(finishes.length).toBeLessThanOrEqual(1)
  return {
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: content === '' ? null : content,
          ...(calls.length === 0 ? {} : { tool_calls: calls }),
          ...(reasoning === '' ? {} : { reasoning }),
          ...(details.length === 0 ? {} : { reasoning_details: details }),
        },
        finishReason: finishes[0] ?? 'stop',
      },
    ],
    usage: events.findLast(event => event.type === 'usage')?.usage,
  }
}

/** The chunks of a stream as one plain answer. */
function toPlain(chunks: readonly JsonObject[]): JsonObject {
  const candidates = chunks.flatMap(({ candidates }) => toObjects(candidates))
  return {
    ...Object.assign({}, ...chunks),
    candidates: [
      {
        ...Object.assign({}, ...candidates),
        content: { parts: candidates.flatMap(({ content }) => toObjects(toObject(content)?.parts)) },
      },
    ],
  }
}

const exists = existsSync(WIRE)
if (!exists) console.log('skipped: the recordings of ../shared/wire are not there (258 exchanges)')
const all = exists ? readAll() : []
const good = all.filter(({ status }) => status === 200)
const bad = all.filter(({ status }) => status !== 200)
const named = (recordings: readonly Recording[]): (readonly [string, Recording])[] =>
  recordings.map(recording => [recording.name, recording] as const)

describe.skipIf(!exists)('recorded answers', () => {
  test('all recordings are found', () => {
    expect([good.length, bad.length]).toEqual([253, 6])
  })

  test.each(named(good.filter(({ isStream, chunks }) => !isStream && chunks.length === 1)))(
    '%s',
    (_, { chunks, target }) => {
      expectReply(decodeReply(chunks[0] as JsonObject, target), chunks)
    },
  )

  test.each(named(good.filter(({ isStream, chunks }) => isStream || chunks.length > 1)))(
    '%s',
    (_, { chunks, target }) => {
      const reply = collect(
        decodeStream(
          chunks.map(chunk => JSON.stringify(chunk)),
          target,
        ),
      )
      expectReply(reply, chunks)
      expect(decodeReply(toPlain(chunks), target)).toEqual(reply)
    },
  )

  test('a stream decodes alike however its bytes are cut', () => {
    const streams = good.filter(({ bytes }) => bytes !== undefined)
    expect(streams.length).toBeGreaterThan(30)
    for (const { bytes = Buffer.alloc(0), target } of streams) {
      const whole = decodeStream(payloadsOf(bytes), target)
      fc.assert(
        fc.property(fc.array(fc.nat(bytes.length), { maxLength: 12 }), cuts => {
          const ends = [...new Set([0, ...cuts, bytes.length])].sort((a, b) => a - b)
          const pieces = ends.slice(1).map((end, at) => bytes.subarray(ends[at], end))
          expect(decodeStream(payloadsOf(...pieces), target)).toEqual(whole)
        }),
        { numRuns: 5, seed: 5 },
      )
    }
  })

  test.each(named(bad))('%s', (name, { status, headers, body }) => {
    const { kind } = geminiContent.decodeError(status, headers, body)
    const expected =
      /context-le/.test(name) && status === 400
        ? 'context_length'
        : { 404: 'model_not_found', 429: 'rate_limited' }[status]
    expect(kind).toBe(expected ?? 'bad_request')
  })
})
