import { existsSync, readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openSseParser } from '../../../frames/sse.ts'
import type { JsonObject } from '../../../json/json-value.ts'
import { toObject, toObjects } from '../../../json/json-value.ts'
import { cohere } from '../../../providers/cohere.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { Message } from '../../../request/message.ts'
import type { StreamEvent } from '../../../stream/stream-event.ts'
import { addUp } from '../../../testing/add-up.ts'
import { findDifferences, openJustifications } from '../../../testing/explain-differences.ts'
import { JUSTIFIED } from '../../../testing/justified/cohere-v2.ts'
import type { Target } from '../../../upstream/target.ts'
import type { Usage } from '../../../usage/usage.ts'
import { cohereV2 } from './client.ts'

/** Real traffic, kept beside the repository; a clone elsewhere has only the hand-written cases. */
const FOLDER = new URL('../../../../../../shared/wire/cohere/', import.meta.url)

interface Recording {
  readonly name: string
  readonly target: Target
  readonly status: number
  readonly headers: Record<string, string>
  readonly sent: JsonObject | undefined
  readonly url: string
  readonly body: string
  readonly chunks: readonly string[]
}

function readOne(name: string): Recording {
  const { request, response, model } = JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8'))
  return {
    name,
    target: { provider: cohere, model, baseUrl: 'https://api.cohere.com/v2', apiKey: '' },
    status: response.status,
    headers: response.headers ?? {},
    sent: typeof request?.body === 'string' ? JSON.parse(request.body) : undefined,
    url: request?.url ?? '',
    body: response.body ?? '',
    chunks: response.chunks ?? [],
  }
}

function framesOf({ body, chunks }: Recording, cut = (all: Buffer): Buffer[] => [all]): string[] {
  const frames = [...chunks]
  const parser = openSseParser(({ data }) => frames.push(data))
  for (const piece of cut(Buffer.from(body))) parser.push(piece)
  parser.end()
  return frames
}

function decode({ target }: Recording, frames: readonly string[]): StreamEvent[] {
  const decoder = cohereV2.openStream(target)
  return frames.flatMap(data => decoder.decode(data))
}

/** The message that a stream's events describe. */
function assemble(frames: readonly string[]): JsonObject {
  const message = { content: new Map<unknown, JsonObject>(), calls: new Map<unknown, JsonObject>(), plan: '' }
  let end: JsonObject = {}
  for (const data of frames.filter(each => each !== '[DONE]')) {
    const event = JSON.parse(data) as JsonObject
    const delta = toObject(event.delta)
    const piece = toObject(delta?.message)
    if (event.type === 'message-end') end = delta ?? {}
    message.plan += event.type === 'tool-plan-delta' ? String(piece?.tool_plan) : ''
    const content = toObject(piece?.content)
    if (content !== undefined) {
      const known = message.content.get(event.index) ?? {}
      for (const name of ['text', 'thinking']) {
        if (content[name] !== undefined) known[name] = String(known[name] ?? '') + String(content[name])
      }
      message.content.set(event.index, known)
    }
    const call = toObject(piece?.tool_calls)
    const fn = toObject(call?.function)
    if (event.type === 'tool-call-start') message.calls.set(event.index, { ...call, function: { ...fn } })
    if (event.type !== 'tool-call-delta') continue
    const known = toObject(message.calls.get(event.index)?.function)
    if (known !== undefined) known.arguments = `${String(known.arguments)}${String(fn?.arguments)}`
  }
  return {
    message: {
      content: [...message.content.values()],
      tool_calls: [...message.calls.values()],
      tool_plan: message.plan,
    },
    finish_reason: end.finish_reason,
    usage: end.usage,
  }
}

function readNaively(answer: JsonObject) {
  const message = toObject(answer.message) ?? {}
  const parts = toObjects(message.content)
  return {
    content: parts.map(({ text }) => text ?? '').join(''),
    reasoning: parts.map(({ thinking }) => thinking ?? '').join('') + String(message.tool_plan ?? ''),
    calls: toObjects(message.tool_calls).map(({ id, function: fn }) => ({
      id,
      name: toObject(fn)?.name,
      input: JSON.parse(String(toObject(fn)?.arguments)) ?? {},
    })),
  }
}

function checkUsage(usage: Usage | undefined, wire: JsonObject | undefined): void {
  const billed = toObject(wire?.billed_units)
  if (billed === undefined || usage === undefined) throw new Error('usage was lost')
  expect(usage.uncachedInput + usage.cacheRead + usage.cacheWrite).toBe(billed.input_tokens)
  expect(usage.output + usage.reasoning).toBe(billed.output_tokens)
  expect(usage.reasoning).toBe(
    Math.min(Number(toObject(wire?.tokens)?.reasoning_tokens ?? 0), Number(billed.output_tokens)),
  )
}

const FINISH: Readonly<Record<string, string>> = {
  COMPLETE: 'stop',
  TOOL_CALL: 'tool_calls',
  MAX_TOKENS: 'length',
}

/** A recorded body as the canonical request that a client of the gateway would have sent for it. */
function toCanonical(body: JsonObject): ChatRequest {
  const format = toObject(body.response_format)
  const { tool_choice: choice, thinking, p, k } = body
  const fields = {
    model: 'any',
    messages: body.messages as unknown as Message[],
    stream: body.stream === true,
    includeUsage: true,
    tools: body.tools,
    toolChoice: choice === 'REQUIRED' ? 'required' : choice === 'NONE' ? 'none' : undefined,
    responseFormat:
      format &&
      (format.json_schema === undefined
        ? format
        : { type: 'json_schema', json_schema: { name: 'n', schema: format.json_schema } }),
    maxOutputTokens: body.max_tokens,
    temperature: body.temperature,
    topP: p,
    stop: body.stop_sequences,
    seed: body.seed,
    presencePenalty: body.presence_penalty,
    frequencyPenalty: body.frequency_penalty,
    reasoningEffort: toObject(thinking)?.type === 'enabled' ? 'high' : undefined,
    providerOptions: k === undefined ? undefined : { cohere: { k } },
  }
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as unknown as ChatRequest
}

const exists = existsSync(FOLDER)
if (!exists) console.log('skipped: the recordings of ../shared/wire are not there (55 exchanges)')
const all = exists
  ? readdirSync(FOLDER)
      .filter(name => name.startsWith('cohere-chat__'))
      .map(readOne)
  : []
const named = (list: readonly Recording[]) => list.map(recording => [recording.name, recording] as const)
const good = all.filter(({ status }) => status === 200)
const plain = good.filter(({ name }) => name.includes('__unary__'))
const streamed = good.filter(({ name }) => name.includes('__stream__'))

describe.skipIf(!exists)('recorded chats', () => {
  test('there are as many as there were', () => {
    expect([plain.length, streamed.length]).toEqual([38, 15])
  })

  test.each(named(plain))('%s', (_, { body, target }) => {
    const answer = JSON.parse(body) as JsonObject
    const { choices, usage } = cohereV2.decodeReply(answer, target)
    const [choice] = choices
    const calls = choice?.message.tool_calls ?? []
    expect({
      content: choice?.message.content ?? '',
      reasoning: choice?.message.reasoning ?? '',
      calls: calls.map(({ id, function: fn }) => ({ id, name: fn.name, input: JSON.parse(fn.arguments) })),
    }).toEqual(readNaively(answer))
    expect(choice?.finishReason).toBe(FINISH[String(answer.finish_reason)])
    checkUsage(usage, toObject(answer.usage))
  })

  test.each(named(streamed))('%s: as it was said, and as the same answer plain', (_, recording) => {
    const frames = framesOf(recording)
    const answer = assemble(frames)
    const sum = addUp(decode(recording, frames))
    const { content, reasoning, usage, finishReason } = sum
    const calls = sum.calls.map(({ id, name, arguments: text }) => ({ id, name, input: JSON.parse(text) }))
    expect({ content, reasoning, calls }).toEqual(readNaively(answer))
    expect(finishReason).toBe(FINISH[String(answer.finish_reason)])
    checkUsage(usage, toObject(answer.usage))
    expect(sum.isEnded).toBe(true)
    const reply = cohereV2.decodeReply(answer, recording.target)
    expect(reply.usage).toEqual(usage)
    expect(reply.choices[0]).toMatchObject({
      finishReason,
      message: { content: content === '' ? null : content },
    })
    expect(reply.choices[0]?.message.reasoning ?? '').toBe(reasoning)
    expect(
      (reply.choices[0]?.message.tool_calls ?? []).map(({ id, function: fn }) => ({ id, ...fn })),
    ).toEqual(sum.calls)
  })

  test('any re-chunking of a recorded stream decodes identically', () => {
    const bytes = streamed.filter(({ body }) => body !== '')
    expect(bytes.length).toBe(12)
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

  test.each(named(all.filter(({ status }) => status !== 200)))('%s', (_, { status, headers, body }) => {
    const kind = status === 401 ? 'auth' : 'context_length'
    expect(cohereV2.decodeError(status, headers, body)).toMatchObject({ kind, status })
  })
})

describe.skipIf(!exists)('a recorded request, received by us and sent on', () => {
  const justified = openJustifications(JUSTIFIED)
  const taken = good.filter(({ sent }) => sent !== undefined)

  test('there are as many as there were', () => {
    expect(taken.length).toBe(45)
  })

  test.each(named(taken))('%s', (name, { sent = {}, target, url }) => {
    const request = toCanonical(sent)
    const { origin, path, body } = cohereV2.encodeRequest(request, target, undefined)
    expect(justified.unexplained(name, findDifferences(JSON.parse(body.toString()), sent))).toEqual([])
    expect(`${origin}${path}`).toBe(url)
    expect(cohereV2.listUnsupportedParams(request, cohere, target.model)).toEqual([])
  })

  test('every justification is needed', () => {
    expect(justified.unused()).toEqual([])
  })
})
