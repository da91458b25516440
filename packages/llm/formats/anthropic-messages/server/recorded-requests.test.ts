import { describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObject, toObjects, toText } from '../../../json/json-value.ts'
import type { SentBody } from '../../../json/unwritten-json.ts'
import { findProvider } from '../../../providers/index.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import { findDifferences, openJustifications } from '../../../testing/explain-differences.ts'
import { JUSTIFIED } from '../../../testing/justified/anthropic-messages.ts'
import {
  hasRecordings,
  listCases,
  listRecordedRequests,
  type RecordedRequest,
  toSourceBody,
} from '../../../testing/recorded-requests.ts'
import type { Target } from '../../../upstream/target.ts'
import { anthropicMessages } from '../client/client.ts'
import { parseRequest } from './parse-request.ts'

/** The recorded providers of this format: Anthropic, and a cloud that wraps it. */
const FOLDERS = ['anthropic', 'vertex']
/** Fields with a canonical meaning. The other fields of a recorded body are sent as provider options. */
const CANONICAL: ReadonlySet<string> = new Set([
  ...['model', 'messages', 'system', 'max_tokens', 'stream', 'temperature', 'top_p', 'stop_sequences'],
  ...['tools', 'tool_choice', 'output_config', 'output_format', 'metadata', 'anthropic_version'],
])

/** The request of a recorded body without the tools that the gateway does not offer. */
function parseOffered(body: JsonObject): ChatRequest {
  const offered = (tool: JsonObject): boolean =>
    tool.type === undefined || tool.type === 'custom' || /^(?:bash|text_editor)_/.test(String(tool.type))
  const fields: JsonObject = { model: 'any', messages: body.messages ?? [], max_tokens: 1 }
  for (const name of [
    'system',
    'thinking',
    'tool_choice',
    'stop_sequences',
    'output_config',
    'output_format',
  ])
    fields[name] = body[name]
  if (body.tools !== undefined) fields.tools = toObjects(body.tools).filter(offered)
  const source = toSourceBody('anthropic-messages', body)
  return parseRequest(fields, { source, pathModel: '', isEndUser: false }).request
}

/** The canonical request of a recorded body, with fields of this provider alone as provider options. */
function toCanonical({ provider, body, isStream }: RecordedRequest): ChatRequest {
  const { reasoningEffort, ...asked } = parseOffered(body)
  const rest = Object.entries(body).filter(([name]) => !CANONICAL.has(name))
  const fields = {
    maxOutputTokens: body.max_tokens,
    temperature: body.temperature,
    topP: body.top_p,
    user: toObject(body.metadata)?.user_id,
    // A budget has no canonical form, so it is sent as a provider option.
    reasoningEffort: toObject(body.thinking)?.budget_tokens === undefined ? reasoningEffort : undefined,
    providerOptions: rest.length === 0 ? undefined : { [provider]: Object.fromEntries(rest) },
  }
  return {
    ...asked,
    model: 'any',
    stream: isStream,
    includeUsage: true,
    ...Object.fromEntries(
      Object.entries(fields).filter(([, value]) => value !== undefined && value !== null),
    ),
  } as ChatRequest
}

/** Some recordings of the cloud lack the address; their answers came from this model. */
function toTarget({ provider, model, body, url }: RecordedRequest): Target {
  const known = findProvider(provider)
  if (known === undefined) throw new Error(provider)
  const inPath = /models\/([^:]+):/.exec(url)?.[1]
  const name = toText(body.model) ?? inPath ?? (model === '' ? 'claude-sonnet-4' : model)
  return { provider: known, model: name, baseUrl: 'https://a.example', apiKey: '' }
}

/** Writes a single text as a block, and instructions as one text: both forms mean the same. */
function normalize(body: JsonObject): JsonObject {
  const system = toBlocks(body.system)
  const isMarked = toObjects(system).some(({ cache_control }) => cache_control !== undefined)
  const text = toObjects(system).map(block => block.text)
  return {
    ...body,
    ...(body.system === undefined ? {} : { system: isMarked ? system : text.join('\n\n') }),
    messages: toObjects(body.messages).map(message => ({
      ...message,
      content: toObjects(toBlocks(message.content)).map(block =>
        block.type === 'tool_result' && block.content !== undefined
          ? { ...block, content: toBlocks(block.content) }
          : block,
      ),
    })),
  }
}

function toBlocks(content: Json | undefined): Json | undefined {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content
}

const differences = (sent: SentBody, recorded: JsonObject) =>
  findDifferences(normalize(JSON.parse(sent.toString())), normalize(recorded))

if (!hasRecordings) console.log('skipped: the recordings of ../shared/wire are not there (192 requests)')

describe.skipIf(!hasRecordings)('a recorded request, received by us and sent on', () => {
  const all = FOLDERS.flatMap(folder => listRecordedRequests(folder, 'messages'))
  const taken = all.filter(({ status }) => status === 200)
  const cases = FOLDERS.flatMap(folder => listCases(folder, 'messages')).filter(
    ({ recorded }) => recorded.status === 200,
  )
  const justified = openJustifications(JUSTIFIED)

  test('the number of recordings is unchanged', () => {
    expect([taken.length, cases.length]).toEqual([192, 14])
  })

  test.each(taken.map(recorded => [recorded.name, recorded] as const))('%s', (name, recorded) => {
    const request = toCanonical(recorded)
    const target = toTarget(recorded)
    const { body } = anthropicMessages.encodeRequest(request, target, undefined)
    expect(justified.unexplained(name, differences(body, recorded.body))).toEqual([])
    expect(JSON.parse(body.toString()).stream).toBe(recorded.isStream ? true : undefined)
    // The model accepted the recorded request, but a caller of another format has no files at this provider.
    const unsupported = anthropicMessages.listUnsupportedParams(request, target.provider, target.model)
    expect(unsupported).toEqual(name.includes('uploaded-file') ? ['file_id'] : [])
  })

  test.each(taken.map(recorded => [recorded.name, recorded] as const))(
    'passes through unchanged: %s',
    (_, recorded) => {
      const request = toCanonical(recorded)
      const source = toSourceBody('anthropic-messages', recorded.body)
      const { body } = anthropicMessages.encodeRequest(request, toTarget(recorded), source)
      const { model: _model, ...sent } = JSON.parse(body.toString())
      const { model: _named, ...given } = recorded.body
      expect(findDifferences(sent, given)).toEqual([])
    },
  )

  test.each(cases.map(one => [one.name, one] as const))(
    'from the canonical request: %s',
    (name, { request, recorded }) => {
      const { body } = anthropicMessages.encodeRequest(request, toTarget(recorded), undefined)
      expect(justified.unexplained(`canonical ${name}`, differences(body, recorded.body))).toEqual([])
    },
  )

  test('every justification is needed', () => {
    expect(justified.unused()).toEqual([])
  })
})
