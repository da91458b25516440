import { describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObject, toObjects } from '../../../json/json-value.ts'
import type { SentBody } from '../../../json/unwritten-json.ts'
import { bedrock } from '../../../providers/bedrock.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { ContentPart, Message } from '../../../request/message.ts'
import { findDifferences, openJustifications } from '../../../testing/explain-differences.ts'
import { JUSTIFIED } from '../../../testing/justified/bedrock-converse.ts'
import {
  hasRecordings,
  listCases,
  listRecordedRequests,
  type RecordedRequest,
} from '../../../testing/recorded-requests.ts'
import type { Target } from '../../../upstream/target.ts'
import { bedrockConverse } from '../client/client.ts'

/** Fields with a canonical meaning. The other fields of a recorded body are sent as provider options. */
const CANONICAL: ReadonlySet<string> = new Set([
  'modelId',
  'messages',
  'system',
  'inferenceConfig',
  'toolConfig',
  'outputConfig',
])

const withoutAbsent = <T extends object>(fields: T): T =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T

/** Translates a recorded body into a canonical request without the gateway's parser. */
function toCanonical(body: JsonObject, isStream: boolean): ChatRequest {
  const inference = toObject(body.inferenceConfig) ?? {}
  const choice = toObject(toObject(body.toolConfig)?.toolChoice)
  const schema = toObject(toObject(toObject(toObject(body.outputConfig)?.textFormat)?.structure)?.jsonSchema)
  const tools = toObjects(toObject(body.toolConfig)?.tools)
  const system = withCacheMarks(toObjects(body.system)).map(part => ({ role: 'system', content: [part] }))
  const rest = Object.entries(body).filter(([name]) => !CANONICAL.has(name))
  return withoutAbsent({
    model: 'any',
    messages: [...system, ...toObjects(body.messages).flatMap(toMessages)],
    stream: isStream,
    includeUsage: true,
    tools: tools.length === 0 ? undefined : tools.flatMap(toTool),
    toolChoice: choice?.auto
      ? 'auto'
      : choice?.any
        ? 'required'
        : choice?.tool && { type: 'function', function: choice.tool },
    responseFormat: schema && {
      type: 'json_schema',
      json_schema: { ...schema, schema: JSON.parse(String(schema.schema)) },
    },
    maxOutputTokens: inference.maxTokens,
    temperature: inference.temperature,
    topP: inference.topP,
    stop: inference.stopSequences,
    providerOptions: rest.length === 0 ? undefined : { bedrock: Object.fromEntries(rest) },
  }) as unknown as ChatRequest
}

function toTool(tool: JsonObject, at: number, all: readonly JsonObject[]): object[] {
  const spec = toObject(tool.toolSpec)
  if (spec === undefined) return []
  const mark = all[at + 1]?.cachePoint === undefined ? {} : { cache_control: { type: 'ephemeral' } }
  const { name, description, strict, inputSchema } = spec
  return [
    {
      type: 'function',
      function: withoutAbsent({ name, description, strict, parameters: toObject(inputSchema)?.json }),
      ...mark,
    },
  ]
}

/** Returns blocks as parts. A cache point becomes a mark on the part before it. */
function withCacheMarks(blocks: readonly JsonObject[]): ContentPart[] {
  return blocks.flatMap((block, at) => {
    const part = toPart(block)
    if (part === undefined) return []
    return blocks[at + 1]?.cachePoint === undefined
      ? [part]
      : [{ ...part, cache_control: { type: 'ephemeral' } }]
  })
}

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  pdf: 'application/pdf',
  csv: 'text/csv',
  md: 'text/markdown',
  html: 'text/html',
  txt: 'text/plain',
}

function toPart(block: JsonObject): ContentPart | undefined {
  if (block.text !== undefined) return { type: 'text', text: block.text }
  if (block.json !== undefined) return { type: 'text', text: JSON.stringify(block.json) }
  const image = toObject(block.image)
  const bytes = (of: JsonObject): Json => toObject(of.source)?.bytes ?? ''
  if (image)
    return { type: 'image_url', image_url: { url: `data:image/${image.format};base64,${bytes(image)}` } }
  const file = toObject(block.document)
  if (file === undefined) return undefined
  const filename = String(file.name).replace(/ \d+$/, '')
  return {
    type: 'file',
    file: { filename, file_data: `data:${MEDIA_TYPES[String(file.format)]};base64,${bytes(file)}` },
  }
}

function toMessages(message: JsonObject): Message[] {
  const blocks = toObjects(message.content)
  const content = withCacheMarks(blocks)
  const results = blocks.map(block => toObject(block.toolResult)).filter(each => each !== undefined)
  if (message.role === 'user') {
    return [
      ...results.map(
        (each): Message => ({
          role: 'tool',
          tool_call_id: String(each.toolUseId),
          content: withCacheMarks(toObjects(each.content)),
        }),
      ),
      ...(content.length === 0 ? [] : [{ role: 'user', content } as Message]),
    ]
  }
  const reasoning = blocks.map(block => toObject(block.reasoningContent)).filter(each => each !== undefined)
  return [
    withoutAbsent({
      role: 'assistant',
      content: content.length === 0 ? null : content,
      reasoning_details: reasoning.length === 0 ? undefined : reasoning.map(toDetail),
      tool_calls: blocks.some(block => block.toolUse) ? blocks.flatMap(toCall) : undefined,
    }) as Message,
  ]
}

function toDetail(reasoning: JsonObject): object {
  const format = 'anthropic-claude-v1'
  if (typeof reasoning.redactedContent === 'string') {
    return {
      type: 'reasoning.encrypted',
      format,
      data: Buffer.from(reasoning.redactedContent, 'base64').toString(),
    }
  }
  return { type: 'reasoning.text', format, ...toObject(reasoning.reasoningText) }
}

function toCall(block: JsonObject): object[] {
  const use = toObject(block.toolUse)
  if (use === undefined) return []
  return [
    {
      id: use.toolUseId,
      type: 'function',
      function: { name: use.name, arguments: JSON.stringify(use.input) },
    },
  ]
}

/** Some recordings have the model's name only up to the colon; the address has all of it. */
function toTarget({ model, url }: RecordedRequest): Target {
  const found = /^(https:\/\/[^/]+)\/model\/(.+)\/converse/.exec(url)
  const [, baseUrl = 'https://a.example', inUrl = model] = found ?? []
  return { provider: bedrock, model: decodeURIComponent(inUrl), baseUrl, apiKey: '' }
}

/** Leaves out empty lists and objects, and the model's name, which is in the path. Parses schemas. */
function normalize({ modelId: _, ...body }: JsonObject): JsonObject {
  const schema = toObject(toObject(toObject(toObject(body.outputConfig)?.textFormat)?.structure)?.jsonSchema)
  if (schema !== undefined) schema.schema = JSON.parse(String(schema.schema)) as JsonObject
  const isEmpty = (value: Json | undefined): boolean => ['[]', '{}'].includes(JSON.stringify(value))
  return Object.fromEntries(Object.entries(body).filter(([, value]) => !isEmpty(value)))
}

const differences = (sent: SentBody, recorded: JsonObject) =>
  findDifferences(normalize(JSON.parse(sent.toString())), normalize(structuredClone(recorded)))

if (!hasRecordings) console.log('skipped: the recordings of ../shared/wire are not there (111 requests)')

describe.skipIf(!hasRecordings)('a recorded request, received by us and sent on', () => {
  const taken = listRecordedRequests('bedrock', 'converse').filter(({ status }) => status === 200)
  const cases = listCases('bedrock', 'converse')
  const justified = openJustifications(JUSTIFIED)

  test('the number of recordings is unchanged', () => {
    expect([taken.length, cases.length]).toEqual([106, 5])
  })

  test.each(taken.map(recorded => [recorded.name, recorded] as const))('%s', (name, recorded) => {
    const request = toCanonical(recorded.body, recorded.isStream)
    const target = toTarget(recorded)
    const { origin, path, body } = bedrockConverse.encodeRequest(request, target, undefined)
    expect(justified.unexplained(name, differences(body, recorded.body))).toEqual([])
    // Some clients do not encode the colon.
    const address = recorded.url.replace(/:0(?=\/converse)/, '%3A0')
    if (address !== '') expect(`${origin}${path}`).toBe(address)
    // The model accepted the recorded request, so it supports all of it.
    expect(bedrockConverse.listUnsupportedParams(request, bedrock, target.model)).toEqual([])
  })

  test.each(cases.map(one => [one.name, one] as const))(
    'from the canonical request: %s',
    (name, { request, recorded }) => {
      const { body } = bedrockConverse.encodeRequest(request, toTarget(recorded), undefined)
      expect(justified.unexplained(`canonical ${name}`, differences(body, recorded.body))).toEqual([])
    },
  )

  test('every justification is needed', () => {
    expect(justified.unused()).toEqual([])
  })
})
