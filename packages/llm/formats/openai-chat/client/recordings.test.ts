import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { openSseParser } from '../../../frames/sse.ts'
import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toArray, toObject, toObjects } from '../../../json/json-value.ts'
import { custom } from '../../../providers/custom.ts'
import { findProvider } from '../../../providers/index.ts'
import type { ChatReply, FinishReason } from '../../../reply/chat-reply.ts'
import type { StreamEvent } from '../../../stream/stream-event.ts'
import type { Target } from '../../../upstream/target.ts'
import type { Usage } from '../../../usage/usage.ts'
import { openAiChat } from './client.ts'

/** Real traffic, kept beside the repository; a clone elsewhere has only the hand-written cases. */
const WIRE = new URL('../../../../../../shared/wire/', import.meta.url)
/** All recorded providers of chat completions, those without a file in providers/ as custom servers. */
const FOLDERS = [
  'openai',
  'azure',
  'groq',
  'mistral',
  'deepseek',
  'xai',
  'together',
  'openrouter',
  'ollama',
  'cerebras',
  'moonshot',
  'zai',
  'alibaba',
  'perplexity',
  'huggingface',
  'vercel-gateway',
  'selfhosted',
  'other-compatible',
]

interface Recording {
  readonly name: string
  readonly target: Target
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: string | undefined
  /** Payloads of a stream, without the frames around them. */
  readonly payloads: readonly string[]
  readonly isStream: boolean
}

function readAll(): Recording[] {
  return FOLDERS.flatMap(folder =>
    readdirSync(new URL(folder, WIRE))
      .filter(file => file.startsWith('chat-completions__'))
      .map(file => readOne(folder, file)),
  )
}

function readOne(folder: string, file: string): Recording {
  const { response, model } = JSON.parse(readFileSync(new URL(`${folder}/${file}`, WIRE), 'utf8'))
  const provider = findProvider(folder) ?? custom
  const payloads: string[] = response.chunks ?? []
  const isStream = file.includes('__stream__')
  if (isStream && typeof response.body === 'string') {
    const parser = openSseParser(({ data }) => payloads.push(data))
    parser.push(Buffer.from(response.body))
    parser.end()
  }
  return {
    name: `${folder}/${file}`,
    target: { provider, model, baseUrl: 'https://example.com/v1', apiKey: '' },
    status: response.status,
    headers: response.headers ?? {},
    body: response.body,
    payloads,
    isStream,
  }
}

/** What a reader who knows only the plain format makes of a choice. */
interface PlainReply {
  content: string
  calls: { name: string; arguments: string }[]
  finish: string | undefined
}

const textOf = (content: Json | undefined): string =>
  typeof content === 'string'
    ? content
    : toObjects(content)
        .map(part => (part.type === 'text' && typeof part.text === 'string' ? part.text : ''))
        .join('')

const argumentsOf = (value: Json | undefined): string =>
  value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value)

const FINISH: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  eos: 'stop',
  length: 'length',
  model_length: 'length',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
  content_filter: 'content_filter',
}

function expectFinish(actual: FinishReason | undefined, naive: PlainReply): void {
  if (naive.finish === undefined) return
  const own = FINISH[naive.finish]
  if (own === undefined) throw new Error(`unknown finish reason ${naive.finish}`)
  // OpenAI itself says `stop` where the caller forced a tool.
  expect(actual).toBe(own === 'stop' && naive.calls.length > 0 ? 'tool_calls' : own)
}

function expectUsage(usage: Usage | undefined, wire: JsonObject | undefined): void {
  if (wire === undefined || wire.total_tokens === undefined) return
  const { uncachedInput, cacheRead, cacheWrite, output, reasoning } = usage ?? {
    uncachedInput: 0,
    cacheRead: 0,
    cacheWrite: 0,
    output: 0,
    reasoning: 0,
  }
  for (const bucket of [uncachedInput, cacheRead, cacheWrite, output, reasoning]) {
    expect(Number.isSafeInteger(bucket) && bucket >= 0).toBe(true)
  }
  expect(uncachedInput + cacheRead + cacheWrite).toBe(wire.prompt_tokens)
  const told = toObject(wire.completion_tokens_details)?.reasoning_tokens
  const miscounted = typeof told === 'number' && told === Number(wire.completion_tokens) + 1
  if (typeof told === 'number' && !miscounted) expect(reasoning).toBe(told)
  // Gemini models through a gateway: more reasoning than completion, and a total without it.
  const leftOut = typeof told === 'number' && !miscounted && told > Number(wire.completion_tokens)
  const total = Number(wire.total_tokens)
  const apart = leftOut && total === Number(wire.prompt_tokens) + Number(wire.completion_tokens) ? told : 0
  expect(uncachedInput + cacheRead + cacheWrite + output + reasoning).toBe(total + apart)
}

function checkReply(body: JsonObject, reply: ChatReply): void {
  const choices = toObjects(body.choices)
  expect(reply.choices).toHaveLength(choices.length)
  for (const [at, choice] of choices.entries()) {
    const message = toObject(choice.message) ?? {}
    const naive: PlainReply = {
      content: textOf(message.content),
      calls: [
        ...toObjects(message.tool_calls).map(call => toObject(call.function) ?? {}),
        ...toArray(message.function_call).map(fn => toObject(fn) ?? {}),
      ].map(fn => ({
        name: String(fn.name),
        arguments: argumentsOf(fn.arguments) || '{}',
      })),
      finish: typeof choice.finish_reason === 'string' ? choice.finish_reason : undefined,
    }
    const decoded = reply.choices[at]
    expect(decoded?.message.content ?? '').toBe(naive.content)
    expect((decoded?.message.tool_calls ?? []).map(call => call.function)).toEqual(naive.calls)
    for (const call of decoded?.message.tool_calls ?? []) expect(call.id).not.toBe('')
    expectFinish(decoded?.finishReason, naive)
  }
  expectUsage(reply.usage, toObject(body.usage))
}

/** The pieces of one choice, added up as clients do. */
class Sum implements PlainReply {
  content = ''
  finish: string | undefined
  readonly calls: { name: string; arguments: string }[] = []
  private readonly keys: Json[] = []

  add(choice: JsonObject): void {
    const delta = toObject(choice.delta) ?? {}
    this.content += textOf(delta.content)
    if (typeof choice.finish_reason === 'string') this.finish = choice.finish_reason
    for (const call of toObjects(delta.tool_calls)) {
      const fn = toObject(call.function) ?? {}
      const key = call.index ?? String(call.id)
      if (!this.keys.includes(key)) {
        this.keys.push(key)
        this.calls.push({ name: String(fn.name), arguments: '' })
      }
      const known = this.calls[this.keys.indexOf(key)]
      if (known !== undefined) known.arguments += argumentsOf(fn.arguments)
    }
  }
}

function sumWire(payloads: readonly string[]): { sums: Map<number, Sum>; usage: JsonObject | undefined } {
  const sums = new Map<number, Sum>()
  let usage: JsonObject | undefined
  for (const data of payloads) {
    if (data === '[DONE]') continue
    const chunk = JSON.parse(data) as JsonObject
    usage = toObject(chunk.usage) ?? toObject(toObject(chunk.x_groq)?.usage) ?? usage
    for (const choice of toObjects(chunk.choices)) {
      const index = Number(choice.index ?? 0)
      const sum = sums.get(index) ?? new Sum()
      sums.set(index, sum)
      sum.add(choice)
    }
  }
  return { sums, usage }
}

function checkStream(payloads: readonly string[], events: readonly StreamEvent[]): void {
  const { sums, usage } = sumWire(payloads)
  for (const [index, naive] of sums) {
    const deltas = events.filter(event => event.type === 'delta').filter(delta => delta.index === index)
    expect(deltas.map(delta => delta.content ?? '').join('')).toBe(naive.content)
    const calls: { name: string; arguments: string }[] = []
    for (const call of deltas.flatMap(delta => delta.toolCalls ?? [])) {
      const known = calls[call.index]
      if (known === undefined) {
        expect(call.id).toBeTruthy()
        calls[call.index] = { name: call.function?.name ?? '', arguments: call.function?.arguments ?? '' }
      } else {
        // A client that adds fragments up would see them doubled.
        expect([call.id, call.type, call.function?.name]).toEqual([undefined, undefined, undefined])
        known.arguments += call.function?.arguments ?? ''
      }
    }
    expect(calls).toEqual(naive.calls)
    expectFinish(deltas.findLast(delta => delta.finishReason !== undefined)?.finishReason, naive)
  }
  expectUsage(events.findLast(event => event.type === 'usage')?.usage, usage)
}

const exists = existsSync(WIRE)
if (!exists) console.log('skipped: the recordings of ../shared/wire are not there (700 exchanges)')
const all = exists ? readAll() : []
const good = all.filter(({ status }) => status === 200)

describe.skipIf(!exists)('recorded chat completions', () => {
  test('none of the recordings is missing', () => {
    expect(good.length).toBeGreaterThan(600)
  })

  test.each(good.filter(({ isStream }) => !isStream).map(recording => [recording.name, recording] as const))(
    '%s',
    (_, { body, target }) => {
      const object = JSON.parse(body ?? '') as JsonObject
      checkReply(object, openAiChat.decodeReply(object, target))
    },
  )

  test.each(good.filter(({ isStream }) => isStream).map(recording => [recording.name, recording] as const))(
    '%s',
    (_, { payloads, target }) => {
      const decoder = openAiChat.openStream(target)
      checkStream(
        payloads,
        payloads.flatMap(data => decoder.decode(data)),
      )
    },
  )
})
