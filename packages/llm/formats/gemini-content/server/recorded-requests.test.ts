import { describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toArray, toObject, toObjects, toText } from '../../../json/json-value.ts'
import type { SentBody } from '../../../json/unwritten-json.ts'
import type { Provider } from '../../../provider/provider.ts'
import { findProvider } from '../../../providers/index.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { ContentPart, Message } from '../../../request/message.ts'
import { findDifferences, openJustifications } from '../../../testing/explain-differences.ts'
import { normalizeContent } from '../../../testing/gemini-bodies.ts'
import { JUSTIFIED } from '../../../testing/justified/gemini.ts'
import {
  hasRecordings,
  listCases,
  listRecordedRequests,
  type RecordedRequest,
} from '../../../testing/recorded-requests.ts'
import type { Target } from '../../../upstream/target.ts'
import { geminiContent } from '../client/client.ts'

/** Fields with a canonical meaning. The others are sent as the caller's provider options. */
const CANONICAL: ReadonlySet<string> = new Set([
  'model',
  'contents',
  'systemInstruction',
  'tools',
  'toolConfig',
  'generationConfig',
])
const CONFIGURED: ReadonlySet<string> = new Set([
  'maxOutputTokens',
  'temperature',
  'topP',
  'seed',
  'stopSequences',
  'responseMimeType',
  'responseJsonSchema',
  'responseSchema',
])

const withoutAbsent = <T extends object>(fields: T): T =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T

/** The first spelling of every name, except the caller's own names. */
function toCamel(value: Json, key = ''): Json {
  if (Array.isArray(value)) return value.map(each => toCamel(each, key))
  const object = toObject(value)
  if (
    object === undefined ||
    [
      'args',
      'response',
      'parameters',
      'responseSchema',
      'responseJsonSchema',
      'parametersJsonSchema',
    ].includes(key)
  ) {
    return value
  }
  return Object.fromEntries(
    Object.entries(object).map(([name, each]) => {
      const camel = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
      return [camel, toCamel(each ?? null, camel)]
    }),
  )
}

/** The canonical request of a recorded body. */
function toCanonical(body: JsonObject, isStream: boolean): ChatRequest {
  const config = toObject(body.generationConfig) ?? {}
  const declared = toObjects(body.tools).flatMap(({ functionDeclarations }) =>
    toObjects(functionDeclarations),
  )
  const system = toObjects(toObject(body.systemInstruction)?.parts).map(part => ({
    role: 'system',
    content: [toPart(part)],
  }))
  const schema = config.responseJsonSchema ?? config.responseSchema
  const rest = Object.entries(body).filter(([name]) => !CANONICAL.has(name))
  const restConfig = Object.entries(config).filter(([name]) => !CONFIGURED.has(name))
  if (restConfig.length > 0) rest.push(['generationConfig', Object.fromEntries(restConfig)])
  return withoutAbsent({
    model: 'any',
    messages: [...system, ...toMessages(toObjects(body.contents))],
    stream: isStream,
    includeUsage: true,
    tools: declared.length === 0 ? undefined : declared.map(toTool),
    toolChoice: toChoice(toObject(toObject(body.toolConfig)?.functionCallingConfig)),
    responseFormat:
      config.responseMimeType === 'application/json'
        ? schema === undefined
          ? { type: 'json_object' }
          : { type: 'json_schema', json_schema: { name: 'answer', schema } }
        : undefined,
    maxOutputTokens: config.maxOutputTokens,
    temperature: config.temperature,
    topP: config.topP,
    seed: config.seed,
    stop: config.stopSequences,
    providerOptions:
      rest.length === 0 ? undefined : { gemini: Object.fromEntries(rest), vertex: Object.fromEntries(rest) },
  }) as unknown as ChatRequest
}

function toTool({ name, description, parameters, parametersJsonSchema }: JsonObject): object {
  return {
    type: 'function',
    function: withoutAbsent({ name, description, parameters: parametersJsonSchema ?? parameters }),
  }
}

function toChoice(calling: JsonObject | undefined): unknown {
  const names = toArray(calling?.allowedFunctionNames)
  if (names.length === 1) return { type: 'function', function: { name: names[0] } }
  const tools = names.map(name => ({ type: 'function', function: { name } }))
  if (tools.length > 0) return { type: 'allowed_tools', allowed_tools: { mode: 'required', tools } }
  if (calling?.mode === 'VALIDATED') return undefined
  return { AUTO: 'auto', ANY: 'required', NONE: 'none' }[String(calling?.mode)]
}

function toPart(part: JsonObject): ContentPart | undefined {
  if (typeof part.text === 'string') return { type: 'text', text: part.text }
  const inline = toObject(part.inlineData)
  const file = toObject(part.fileData)
  const url = inline === undefined ? toText(file?.fileUri) : `data:${inline.mimeType};base64,${inline.data}`
  if (url === undefined) return undefined
  return { type: 'image_url', image_url: { url } }
}

/** Messages whose calls all have an id that their results name, as clients of OpenAI's format have them. */
function toMessages(contents: readonly JsonObject[]): Message[] {
  const pending: { id: string; name: string }[] = []
  return contents.flatMap((content, turn) => {
    const parts = toObjects(content.parts)
    if (content.role === 'model') return [toAssistant(parts, turn, pending)]
    const results = parts.map(part => toObject(part.functionResponse)).filter(each => each !== undefined)
    const shown = parts.map(toPart).filter(part => part !== undefined)
    const user: Message[] = shown.length === 0 ? [] : [{ role: 'user', content: shown }]
    return [
      ...results.map((result): Message => {
        const at = pending.findIndex(({ id, name }) =>
          result.id === undefined ? name === result.name : id === result.id,
        )
        const [call] = at === -1 ? [] : pending.splice(at, 1)
        return {
          role: 'tool',
          tool_call_id: call?.id ?? String(result.id ?? ''),
          name: String(result.name),
          content: JSON.stringify(result.response),
        }
      }),
      ...user,
    ]
  })
}

function toAssistant(
  parts: readonly JsonObject[],
  turn: number,
  pending: { id: string; name: string }[],
): Message {
  const details: object[] = []
  const encrypted = { type: 'reasoning.encrypted', format: 'google-gemini-v1' }
  const calls = parts.flatMap((part, at) => {
    const call = toObject(part.functionCall)
    if (call === undefined) {
      if (part.thoughtSignature !== undefined) details.push({ ...encrypted, data: part.thoughtSignature })
      return []
    }
    // The form of ids that the gateway makes for calls without one.
    const id = toText(call.id) ?? `call_${`${turn}${at}`.padStart(24, '0')}`
    pending.push({ id, name: String(call.name) })
    if (part.thoughtSignature !== undefined) details.push({ ...encrypted, data: part.thoughtSignature, id })
    return [
      { id, type: 'function', function: { name: call.name, arguments: JSON.stringify(call.args ?? {}) } },
    ]
  })
  const content = parts
    .filter(part => part.thought !== true)
    .map(toPart)
    .filter(part => part !== undefined)
  return withoutAbsent({
    role: 'assistant',
    content: content.length === 0 ? null : content,
    tool_calls: calls.length === 0 ? undefined : calls,
    reasoning_details: details.length === 0 ? undefined : details,
  }) as unknown as Message
}

const providerOf = ({ provider }: RecordedRequest): Provider => {
  const found = findProvider(provider)
  if (found === undefined) throw new Error(provider)
  return found
}
const toTarget = (recorded: RecordedRequest): Target => {
  const [, baseUrl = 'https://a.example/v1'] =
    /^(https:.*?)(?:\/publishers\/google)?\/models\//.exec(recorded.url) ?? []
  return {
    provider: providerOf(recorded),
    model: recorded.model === '' ? 'gemini-2.5-flash' : recorded.model,
    baseUrl,
    apiKey: '',
  }
}

const differences = (sent: SentBody, recorded: JsonObject) =>
  findDifferences(
    normalizeContent(JSON.parse(sent.toString())),
    normalizeContent(toCamel(structuredClone(recorded)) as JsonObject),
  )

if (!hasRecordings)
  console.log('skipped: the recordings of ../shared/wire are not there (requests to Gemini)')

describe.skipIf(!hasRecordings)('a recorded request, received by us and sent on', () => {
  const of = (provider: string): RecordedRequest[] => listRecordedRequests(provider, 'generateContent')
  const taken = [...of('gemini'), ...of('vertex')].filter(({ status }) => status === 200)
  const cases = [...listCases('gemini', 'generateContent'), ...listCases('vertex', 'generateContent')]
  const justified = openJustifications(JUSTIFIED)

  test('all recordings are found', () => {
    expect([taken.length, cases.length]).toEqual([243, 15])
  })

  test.each(taken.map(recorded => [recorded.name, recorded] as const))('%s', (name, recorded) => {
    const request = toCanonical(toCamel(recorded.body) as JsonObject, recorded.isStream)
    const target = toTarget(recorded)
    const { origin, path, body } = geminiContent.encodeRequest(request, target, undefined)
    expect(justified.unexplained(name, differences(body, recorded.body))).toEqual([])
    if (recorded.url !== '') {
      // A few clients read the unframed stream, which counts as a plain answer in the list of recordings.
      const url = recorded.url.replace(/\?.*$/, '').replace(/:\w+$/, '')
      expect(`${origin}${path}`.replace(/:\w+(\?alt=sse)?$/, '')).toBe(url)
    }
    // The model answered it, so it supports every parameter.
    expect(geminiContent.listUnsupportedParams(request, target.provider, target.model)).toEqual([])
  })

  test.each(cases.map(one => [one.name, one] as const))(
    'from the canonical request: %s',
    (name, { request, recorded }) => {
      const { body } = geminiContent.encodeRequest(request, toTarget(recorded), undefined)
      expect(justified.unexplained(`canonical ${name}`, differences(body, recorded.body))).toEqual([])
    },
  )

  test('every justification is needed', () => {
    expect(justified.unused()).toEqual([])
  })
})
