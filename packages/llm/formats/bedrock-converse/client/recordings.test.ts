import { existsSync, readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openFrames } from '../../../frames/open-frames.ts'
import type { JsonObject } from '../../../json/json-value.ts'
import { toObject, toObjects } from '../../../json/json-value.ts'
import { bedrock } from '../../../providers/bedrock.ts'
import type { StreamEvent } from '../../../stream/stream-event.ts'
import { addUp } from '../../../testing/add-up.ts'
import type { Target } from '../../../upstream/target.ts'
import type { Usage } from '../../../usage/usage.ts'
import { plainToolCallId } from '../../shared/reasoning/reasoning-carrier.ts'
import { bedrockConverse } from './client.ts'

/** Recorded traffic, kept beside the repository. Without it these tests are skipped. */
const FOLDER = new URL('../../../../../../shared/wire/bedrock/', import.meta.url)

interface Recording {
  readonly name: string
  readonly target: Target
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: string
  /** The bytes of a recorded stream. */
  readonly bytes: Buffer | undefined
  /** The events of a stream that was recorded as events, each under its name. */
  readonly chunks: readonly string[]
}

function readOne(name: string): Recording {
  const { response, model } = JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8'))
  const encoded = response.body_base64
  return {
    name,
    target: { provider: bedrock, model: decodeURIComponent(model), baseUrl: 'https://a.example', apiKey: '' },
    status: response.status,
    headers: response.headers ?? {},
    body: response.body ?? '',
    bytes: encoded === undefined ? undefined : Buffer.from(encoded, 'base64'),
    chunks: response.chunks ?? [],
  }
}

/** Returns the name and payload of each frame of a stream. */
function framesOf({ bytes, chunks }: Recording, cut = (all: Buffer): Buffer[] => [all]): [string, string][] {
  const frames: [string, string][] = chunks.flatMap(chunk =>
    Object.entries(JSON.parse(chunk)).map(([event, data]): [string, string] => [event, JSON.stringify(data)]),
  )
  const parser = openFrames('aws-event-stream', ({ event, data }) => frames.push([event, data]))
  if (bytes !== undefined) for (const piece of cut(bytes)) parser.push(piece)
  parser.end()
  return frames
}

function decode(recording: Recording, frames: readonly [string, string][]): StreamEvent[] {
  const decoder = bedrockConverse.openStream(recording.target)
  return frames.flatMap(([event, data]) => decoder.decode(data, event))
}

/** Adds up the blocks of an answer by the format's documentation alone, without the gateway's decoder. */
interface PlainReply {
  content: string
  reasoning: string
  signatures: string[]
  redacted: string[]
  calls: { id: unknown; name: unknown; input: unknown }[]
}

function readBlocks(blocks: readonly JsonObject[]): PlainReply {
  const reasoning = blocks.map(block => toObject(block.reasoningContent)).filter(each => each !== undefined)
  const texts = reasoning.map(each => toObject(each.reasoningText)).filter(each => each !== undefined)
  return {
    content: blocks.map(({ text }) => text ?? '').join(''),
    reasoning: texts.map(({ text }) => text ?? '').join(''),
    signatures: texts.map(({ signature }) => signature).filter(each => typeof each === 'string'),
    redacted: reasoning.map(each => each.redactedContent).filter(each => typeof each === 'string'),
    calls: blocks
      .map(block => toObject(block.toolUse))
      .filter(use => use !== undefined && use.type !== 'server_tool_use')
      .map(use => ({ id: use?.toolUseId, name: use?.name, input: use?.input })),
  }
}

/** Puts the blocks of a stream together by their indexes. */
function assemble(frames: readonly [string, string][]): {
  blocks: JsonObject[]
  stop: unknown
  usage: JsonObject | undefined
} {
  const blocks = new Map<
    unknown,
    {
      text: string
      input: string
      start?: JsonObject
      thought: string
      signature: string
      redacted: string[]
    }
  >()
  let stop: unknown
  let usage: JsonObject | undefined
  for (const [event, data] of frames) {
    const body = JSON.parse(data) as JsonObject
    if (event === 'messageStop') stop = body.stopReason
    if (event === 'metadata') usage = toObject(body.usage)
    if (!event.startsWith('contentBlock') || event === 'contentBlockStop') continue
    const block = blocks.get(body.contentBlockIndex) ?? {
      text: '',
      input: '',
      thought: '',
      signature: '',
      redacted: [],
    }
    blocks.set(body.contentBlockIndex, block)
    const start = toObject(body.start)
    if (start !== undefined) block.start = start
    const delta = toObject(body.delta)
    const thought = toObject(delta?.reasoningContent)
    block.text += String(delta?.text ?? '')
    block.input += String(toObject(delta?.toolUse)?.input ?? '')
    block.thought += String(thought?.text ?? '')
    block.signature += String(thought?.signature ?? '')
    if (typeof thought?.redactedContent === 'string') block.redacted.push(thought.redactedContent)
  }
  const toBlock = (block: typeof blocks extends Map<unknown, infer B> ? B : never): JsonObject => {
    const use = toObject(block.start?.toolUse)
    if (use !== undefined) return { toolUse: { ...use, input: JSON.parse(block.input || '{}') } }
    if (block.redacted.length > 0) {
      const whole = Buffer.concat(block.redacted.map(each => Buffer.from(each, 'base64')))
      return { reasoningContent: { redactedContent: whole.toString('base64') } }
    }
    if (block.thought !== '' || block.signature !== '') {
      const signed = block.signature === '' ? {} : { signature: block.signature }
      return { reasoningContent: { reasoningText: { text: block.thought, ...signed } } }
    }
    return { text: block.text }
  }
  return { blocks: [...blocks.values()].map(toBlock), stop, usage }
}

const FINISH: Readonly<Record<string, string>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  tool_use: 'tool_calls',
  guardrail_intervened: 'content_filter',
  content_filtered: 'content_filter',
}

function checkFinish(finish: string | undefined, stop: unknown, naive: PlainReply): void {
  const expected = FINISH[String(stop)]
  if (expected === undefined) throw new Error(`an unknown stop reason: ${String(stop)}`)
  expect(finish).toBe(expected === 'tool_calls' && naive.calls.length === 0 ? 'stop' : expected)
}

function checkUsage(usage: Usage | undefined, wire: JsonObject | undefined): void {
  if (wire === undefined) return
  const { uncachedInput, cacheRead, cacheWrite, cacheWrite1h = 0, output, reasoning } = usage ?? fail()
  expect(uncachedInput + cacheRead + cacheWrite + cacheWrite1h + output + reasoning).toBe(wire.totalTokens)
  expect(uncachedInput).toBe(wire.inputTokens)
  expect(output).toBe(wire.outputTokens)
}

function fail(): never {
  throw new Error('usage was lost')
}

/** Claude's own text of encrypted reasoning. */
const unwrap = (data: string): string => Buffer.from(data, 'base64').toString('utf8')

const exists = existsSync(FOLDER)
if (!exists) console.log('skipped: the recordings of ../shared/wire are not there (116 exchanges)')
const all = exists
  ? readdirSync(FOLDER)
      .filter(name => name.startsWith('converse__'))
      .map(readOne)
  : []
const good = all.filter(({ status }) => status === 200)
const named = (list: readonly Recording[]) => list.map(recording => [recording.name, recording] as const)
const plain = good.filter(({ name }) => name.includes('__unary__'))
const streamed = good.filter(({ name }) => name.includes('__stream__'))

describe.skipIf(!exists)('recorded conversations', () => {
  test('the number of recordings is unchanged', () => {
    expect([plain.length, streamed.length]).toEqual([79, 33])
  })

  test.each(named(plain))('%s', (_, { body, target }) => {
    const object = JSON.parse(body) as JsonObject
    const naive = readBlocks(toObjects(toObject(toObject(object.output)?.message)?.content))
    const { choices, usage } = bedrockConverse.decodeReply(object, target)
    const { message, finishReason } = choices[0] ?? fail()
    expect(message.content ?? '').toBe(naive.content)
    expect(message.reasoning ?? '').toBe(naive.reasoning)
    const calls = (message.tool_calls ?? []).map(({ id, function: fn }) => ({
      id: plainToolCallId(id),
      name: fn.name,
      input: JSON.parse(fn.arguments),
    }))
    expect(calls).toEqual(naive.calls)
    const details = message.reasoning_details ?? []
    expect(details.flatMap(({ signature }) => signature ?? [])).toEqual(naive.signatures)
    expect(details.flatMap(({ data }) => data ?? [])).toEqual(naive.redacted.map(unwrap))
    checkFinish(finishReason, object.stopReason, naive)
    checkUsage(usage, toObject(object.usage))
  })

  test.each(named(streamed))('%s', (_, recording) => {
    const frames = framesOf(recording)
    const { blocks, stop, usage } = assemble(frames)
    const naive = readBlocks(blocks)
    const sum = addUp(decode(recording, frames))
    expect(sum.content).toBe(naive.content)
    expect(sum.reasoning).toBe(naive.reasoning)
    const calls = sum.calls.map(({ id, name, arguments: text }) => ({
      id: plainToolCallId(id),
      name,
      input: JSON.parse(text),
    }))
    expect(calls).toEqual(naive.calls)
    expect(sum.details.flatMap(({ signature }) => signature ?? [])).toEqual(naive.signatures)
    expect(sum.details.flatMap(({ data }) => data ?? [])).toEqual(naive.redacted.map(unwrap))
    checkFinish(sum.finishReason, stop, naive)
    checkUsage(sum.usage, usage)
    expect(sum.isEnded).toBe(true)
  })

  test.each(named(streamed))('%s: the same answer plain', (_, recording) => {
    const frames = framesOf(recording)
    const { blocks, stop, usage } = assemble(frames)
    const answer = {
      output: { message: { role: 'assistant', content: blocks } },
      stopReason: stop,
      usage,
    } as JsonObject
    const { choices, usage: counted } = bedrockConverse.decodeReply(answer, recording.target)
    const sum = addUp(decode(recording, frames))
    const { message, finishReason } = choices[0] ?? fail()
    const calls = (message.tool_calls ?? []).map(({ id, function: fn }) => [
      id,
      fn.name,
      JSON.parse(fn.arguments),
    ])
    expect(sum.calls.map(call => [call.id, call.name, JSON.parse(call.arguments)])).toEqual(calls)
    expect(sum).toMatchObject({
      content: message.content ?? '',
      reasoning: message.reasoning ?? '',
      details: message.reasoning_details ?? [],
      finishReason,
    })
    expect(sum.usage).toEqual(counted)
  })

  test('any re-chunking of a recorded stream decodes identically', () => {
    const bytes = streamed.filter(each => each.bytes !== undefined)
    expect(bytes.length).toBe(23)
    fc.assert(
      fc.property(
        fc.constantFrom(...bytes),
        fc.infiniteStream(fc.integer({ min: 1, max: 700 })),
        (recording, cuts) => {
          const cut = (whole: Buffer): Buffer[] => {
            const pieces: Buffer[] = []
            for (let at = 0; at < whole.length; ) {
              const size = cuts.next().value as number
              pieces.push(whole.subarray(at, at + size))
              at += size
            }
            return pieces
          }
          expect(decode(recording, framesOf(recording, cut))).toEqual(decode(recording, framesOf(recording)))
        },
      ),
    )
  })

  test.each(named(all.filter(({ status }) => status !== 200)))('%s', (name, { status, headers, body }) => {
    const expected = name.includes('model-name') ? 'model_not_found' : status === 403 ? 'auth' : 'bad_request'
    expect(bedrockConverse.decodeError(status, headers, body)).toMatchObject({ kind: expected, status })
  })
})
