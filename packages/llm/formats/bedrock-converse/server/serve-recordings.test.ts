import { describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObject, toObjects } from '../../../json/json-value.ts'
import { bedrock } from '../../../providers/bedrock.ts'
import type { ChatReply, FinishReason } from '../../../reply/chat-reply.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { ToolCall } from '../../../request/message.ts'
import type { StreamEvent } from '../../../stream/stream-event.ts'
import { addUp } from '../../../testing/add-up.ts'
import { findDifferences, openJustifications } from '../../../testing/explain-differences.ts'
import { JUSTIFIED } from '../../../testing/justified/serve-bedrock-converse.ts'
import { listAnswers, readAnswer } from '../../../testing/recorded-answers.ts'
import {
  hasRecordings,
  listRecordedRequests,
  type RecordedRequest,
  toSourceBody,
} from '../../../testing/recorded-requests.ts'
import type { Target } from '../../../upstream/target.ts'
import type { Usage } from '../../../usage/usage.ts'
import { noMessageNotes } from '../../shared/reading/message-notes.ts'
import { plainToolCallId } from '../../shared/reasoning/reasoning-carrier.ts'
import { bedrockConverse } from '../client/client.ts'
import { decodeReply } from '../client/decode-reply.ts'
import { openStream } from '../client/decode-stream.ts'
import { FIELDS } from '../wire/fields.ts'
import { encodeReply } from './encode-reply.ts'
import { ConverseEncoder } from './encode-stream.ts'
import { parseMessages } from './parse-messages.ts'
import { parseRequest } from './parse-request.ts'

if (!hasRecordings) console.log('skipped: the recordings of ../shared/wire are not there (218 exchanges)')

/** Some recordings have the model's name only up to the colon; the address has all of it. */
function toTarget({ model, url }: RecordedRequest): Target {
  const inUrl = /\/model\/(.+)\/converse/.exec(url)?.[1] ?? model
  return { provider: bedrock, model: decodeURIComponent(inUrl), baseUrl: 'https://a.example', apiKey: '' }
}

/** A body without what the gateway refuses: tools that the provider runs, and files in a bucket of the account. */
function toOffered(body: JsonObject): JsonObject {
  const fields: JsonObject = { messages: withoutBuckets(body.messages ?? []) }
  for (const name of ['system', 'inferenceConfig', 'outputConfig']) fields[name] = body[name]
  const config = toObject(body.toolConfig)
  const tools = toObjects(config?.tools).filter(({ systemTool }) => systemTool === undefined)
  if (config !== undefined) fields.toolConfig = { ...config, tools }
  return fields
}

function withoutBuckets(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutBuckets)
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).filter(([name]) => name !== 's3Location')
  return Object.fromEntries(kept.map(([name, each]) => [name, withoutBuckets(each ?? null)]))
}

/** The canonical request of a recorded body, as the server side parses it. */
function toCanonical({ body, isStream }: RecordedRequest): ChatRequest {
  const source = toSourceBody('bedrock-converse', body)
  const context = { source, pathModel: 'any', isEndUser: false }
  const { request: asked } = parseRequest(toOffered(body), context)
  // Fields of this provider alone are sent as provider options.
  const own = ['additionalModelRequestFields', 'serviceTier', 'guardrailConfig']
  const rest = Object.fromEntries(own.flatMap(name => (body[name] === undefined ? [] : [[name, body[name]]])))
  const options = Object.keys(rest).length === 0 ? {} : { providerOptions: { [bedrock.id]: rest } }
  return { ...asked, ...options, stream: isStream }
}

/** Leaves out empty lists and objects, and the model's name, which is in the path. Parses schemas. */
function normalize({ modelId: _, ...given }: JsonObject): JsonObject {
  const body = structuredClone(given)
  const schema = toObject(toObject(toObject(toObject(body.outputConfig)?.textFormat)?.structure)?.jsonSchema)
  if (schema !== undefined) schema.schema = JSON.parse(String(schema.schema)) as JsonObject
  const isEmpty = (value: Json | undefined): boolean => ['[]', '{}'].includes(JSON.stringify(value))
  return Object.fromEntries(Object.entries(body).filter(([, value]) => !isEmpty(value)))
}

describe.skipIf(!hasRecordings)('a recorded request of this format, parsed and sent on', () => {
  const taken = listRecordedRequests('bedrock', 'converse').filter(({ status }) => status === 200)
  const justified = openJustifications(JUSTIFIED)

  test('the number of recordings is unchanged', () => {
    expect(taken.length).toBe(106)
  })

  test.each(taken.map(recorded => [recorded.name, recorded] as const))('%s', (name, recorded) => {
    const { body } = bedrockConverse.encodeRequest(toCanonical(recorded), toTarget(recorded), undefined)
    const sent = normalize(JSON.parse(body.toString()) as JsonObject)
    expect(justified.unexplained(name, findDifferences(sent, normalize(recorded.body)))).toEqual([])
  })

  test.each(taken.map(recorded => [recorded.name, recorded] as const))(
    'passes through unchanged: %s',
    (_, recorded) => {
      const source = toSourceBody('bedrock-converse', recorded.body)
      const { body } = bedrockConverse.encodeRequest(toCanonical(recorded), toTarget(recorded), source)
      expect(body.toString()).toBe(JSON.stringify(recorded.body))
    },
  )

  test('finds the fields that only this format has', () => {
    const found = taken.flatMap(({ body }) => {
      const notes = noMessageNotes(FIELDS.listFormatSpecific(body))
      parseMessages(toOffered(body), notes)
      return notes.nativeOnly
    })
    const names = ['additionalModelRequestFields.inferenceConfig', 'guardrailConfig', 'modelId']
    expect([...new Set(found)].sort()).toEqual(names)
  })

  test('every justification is needed', () => {
    expect(justified.unused()).toEqual([])
  })
})

describe.skipIf(!hasRecordings)(
  'a recorded answer of this format is the same after decoding and encoding',
  () => {
    const good = (mode: 'unary' | 'stream') =>
      listAnswers('bedrock-converse', mode)
        .map(path => [path, readAnswer(path, 'aws-event-stream')] as const)
        .filter(([, { status }]) => status === 200)
    const plain = good('unary')
    const streamed = good('stream')

    test('the number of recordings is unchanged', () => {
      expect([plain.length, streamed.length]).toEqual([79, 33])
    })

    test.each(plain)('%s: plain, and as a stream', (_, { json }) => {
      const reply = withPlainIds(decodeReply(json as JsonObject))
      expect(withPlainIds(decodeReply(encodeReply(reply, 1)))).toEqual(reply)
      const [choice] = reply.choices
      if (choice === undefined) throw new Error('there is no answer')
      const { content, reasoning, reasoning_details: details, tool_calls: calls = [] } = choice.message
      const events: StreamEvent[] = [
        { type: 'delta', index: 0, ...(reasoning === undefined ? {} : { reasoning }) },
        { type: 'delta', index: 0, ...(details === undefined ? {} : { reasoningDetails: details }) },
        { type: 'delta', index: 0, ...(content === null ? {} : { content }) },
        { type: 'delta', index: 0, toolCalls: calls.map((each, index) => ({ index, ...each })) },
      ]
      const sum = restream(events, choice.finishReason, reply.usage)
      expect(sum).toMatchObject({ content: content ?? '', reasoning: reasoning ?? '' })
      expect(sum.calls).toEqual(calls.map(({ id, function: fn }) => ({ id, ...fn })))
      expect(sum.finishReason).toBe(choice.finishReason)
      expect(sum.usage).toEqual(reply.usage)
    })

    test.each(streamed)('%s: streamed', (_, { frames }) => {
      const decoder = openStream()
      const events = frames.flatMap(({ event, data }) => decoder.decode(data, event)).map(withPlainDelta)
      const { finishReason = 'stop', usage, ...said } = addUp(events)
      expect(restream(events, finishReason, usage)).toEqual({ ...said, finishReason, usage })
    })
  },
)

/** Removes reasoning from the ids of calls: the message has it too, and decoding packs it again. */
function withPlainIds({ choices, usage }: ChatReply): ChatReply {
  const toPlain = (call: ToolCall): ToolCall => ({ ...call, id: plainToolCallId(call.id) })
  return {
    usage,
    choices: choices.map(choice => {
      const { tool_calls: calls } = choice.message
      if (calls === undefined) return choice
      return { ...choice, message: { ...choice.message, tool_calls: calls.map(toPlain) } }
    }),
  }
}

function withPlainDelta(event: StreamEvent): StreamEvent {
  if (event.type !== 'delta' || event.toolCalls === undefined) return event
  const toolCalls = event.toolCalls.map(call =>
    call.id === undefined ? call : { ...call, id: plainToolCallId(call.id) },
  )
  return { ...event, toolCalls }
}

const NO_USAGE: Usage = { uncachedInput: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 }

function restream(events: readonly StreamEvent[], reason: FinishReason, usage: Usage | undefined) {
  const encoder = new ConverseEncoder()
  const wire = [
    ...events.flatMap(event => encoder.encode(event)),
    ...encoder.finish(reason, usage ?? NO_USAGE, 1),
  ]
  const decoder = openStream()
  return addUp(
    wire.flatMap(({ type, body }) => decoder.decode(JSON.stringify(body), type)).map(withPlainDelta),
  )
}
