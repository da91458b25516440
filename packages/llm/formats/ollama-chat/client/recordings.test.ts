import { existsSync, readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openFrames } from '../../../frames/open-frames.ts'
import type { JsonObject } from '../../../json/json-value.ts'
import { toObject, toObjects } from '../../../json/json-value.ts'
import { ollama } from '../../../providers/ollama.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { Message } from '../../../request/message.ts'
import type { StreamEvent } from '../../../stream/stream-event.ts'
import { addUp } from '../../../testing/add-up.ts'
import { findDifferences, openJustifications } from '../../../testing/explain-differences.ts'
import { JUSTIFIED } from '../../../testing/justified/ollama-chat.ts'
import type { Target } from '../../../upstream/target.ts'
import { ollamaChat } from './client.ts'

/** Real traffic, kept beside the repository; a clone elsewhere has only the hand-written cases. */
const FOLDER = new URL('../../../../../../shared/wire/ollama/', import.meta.url)

function readOne(name: string) {
  const { request, response, model } = JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8'))
  const target: Target = { provider: ollama, model, baseUrl: 'http://127.0.0.1:11434/v1', apiKey: '' }
  const sent = JSON.parse(request.body) as JsonObject
  return { name, target, sent, url: request.url as string, body: response.body as string }
}

const exists = existsSync(FOLDER)
if (!exists) console.log('skipped: the recordings of ../shared/wire are not there (9 exchanges)')
const list = (start: string) =>
  exists
    ? readdirSync(FOLDER)
        .filter(name => name.startsWith(start))
        .map(readOne)
    : []
const chats = list('ollama-chat__').map(recording => [recording.name, recording] as const)
/** The older route, whose streams are framed alike; a piece of text is called `response` there. */
const generated = list('ollama-generate__stream')

function decodeLines(target: Target, pieces: readonly Buffer[]): StreamEvent[] {
  const decoder = ollamaChat.openStream(target)
  const events: StreamEvent[] = []
  const parser = openFrames('ndjson', ({ data }) => {
    const { response, ...line } = JSON.parse(data)
    const chat =
      response === undefined ? line : { ...line, message: { role: 'assistant', content: response } }
    events.push(...decoder.decode(JSON.stringify(chat)))
  })
  for (const piece of pieces) parser.push(piece)
  parser.end()
  return events
}

describe.skipIf(!exists)('recorded chats', () => {
  test('none of the recordings is missing', () => {
    expect([chats.length, generated.length]).toEqual([7, 2])
  })

  test.each(chats)('%s: plain, and as a stream of the same', (_, { body, target }) => {
    const answer = JSON.parse(body) as JsonObject
    const message = toObject(answer.message) ?? {}
    const { choices, usage } = ollamaChat.decodeReply(answer, target)
    const [choice] = choices
    expect(choice?.message.content ?? '').toBe(message.content)
    expect(choice?.message.reasoning).toBe(message.thinking)
    const calls = choice?.message.tool_calls ?? []
    expect(
      calls.map(({ id, function: fn }) => ({ id, name: fn.name, input: JSON.parse(fn.arguments) })),
    ).toEqual(
      toObjects(message.tool_calls).map(({ id, function: fn }) => ({
        id,
        name: toObject(fn)?.name,
        input: toObject(fn)?.arguments,
      })),
    )
    expect(choice?.finishReason).toBe(calls.length > 0 ? 'tool_calls' : answer.done_reason)
    expect(usage).toEqual({
      uncachedInput: answer.prompt_eval_count,
      cacheRead: 0,
      cacheWrite: 0,
      output: answer.eval_count,
      reasoning: 0,
    })
    const sum = addUp(decodeLines(target, [Buffer.from(`${body}\n`)]))
    expect(sum).toMatchObject({
      content: choice?.message.content ?? '',
      reasoning: choice?.message.reasoning ?? '',
      calls: calls.map(({ id, function: fn }) => ({ id, ...fn })),
      finishReason: choice?.finishReason,
      usage,
      isEnded: true,
    })
  })

  test('any re-chunking of a recorded stream decodes identically', () => {
    for (const { body, target } of generated) {
      const whole = Buffer.from(body)
      const once = decodeLines(target, [whole])
      const said = body
        .split('\n')
        .filter(line => line !== '')
        .map(line => JSON.parse(line).response)
      expect(addUp(once)).toMatchObject({
        content: said.join(''),
        isEnded: true,
        usage: { output: expect.any(Number) },
      })
      fc.assert(
        fc.property(fc.infiniteStream(fc.integer({ min: 1, max: 300 })), cuts => {
          const pieces: Buffer[] = []
          for (let at = 0; at < whole.length; ) {
            const size = cuts.next().value as number
            pieces.push(whole.subarray(at, at + size))
            at += size
          }
          expect(decodeLines(target, pieces)).toEqual(once)
        }),
        { numRuns: 30 },
      )
    }
  })
})

/** A recorded body as the canonical request that a client of the gateway would have sent for it. */
function toCanonical(body: JsonObject): ChatRequest {
  const { temperature, seed } = toObject(body.options) ?? {}
  let calls = 0
  const messages = toObjects(body.messages).map(message => ({
    ...message,
    ...(message.role === 'tool' ? { tool_call_id: 'c0' } : {}),
    ...(message.tool_calls === undefined
      ? {}
      : {
          tool_calls: toObjects(message.tool_calls).map(({ function: fn }) => ({
            id: `c${calls++}`,
            type: 'function',
            function: { name: toObject(fn)?.name, arguments: JSON.stringify(toObject(fn)?.arguments) },
          })),
        }),
  }))
  const fields = { tools: body.tools, temperature, seed }
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
  return {
    model: 'any',
    messages: messages as unknown as Message[],
    stream: body.stream === true,
    includeUsage: true,
    ...given,
  } as ChatRequest
}

/** Returns the body without fields that say nothing. */
function normalize(body: JsonObject): JsonObject {
  const isEmpty = (value: unknown): boolean => ['[]', '{}', '""', 'null'].includes(JSON.stringify(value))
  return Object.fromEntries(Object.entries(body).filter(([, value]) => !isEmpty(value)))
}

describe.skipIf(!exists)('a recorded request, received by us and sent on', () => {
  const justified = openJustifications(JUSTIFIED)

  test.each(chats)('%s', (name, { sent, target, url }) => {
    const request = toCanonical(sent)
    const { origin, path, body } = ollamaChat.encodeRequest(request, target, undefined)
    const differences = findDifferences(normalize(JSON.parse(body.toString())), normalize(sent))
    expect(justified.unexplained(name, differences)).toEqual([])
    expect(`${origin}${path}`).toBe(url)
    expect(ollamaChat.listUnsupportedParams(request, ollama, target.model)).toEqual([])
  })

  test('every justification is needed', () => {
    expect(justified.unused()).toEqual([])
  })
})
