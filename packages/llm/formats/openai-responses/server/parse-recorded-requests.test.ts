import { describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObjects } from '../../../json/json-value.ts'
import { custom } from '../../../providers/custom.ts'
import { findProvider } from '../../../providers/index.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import { type Difference, findDifferences, openJustifications } from '../../../testing/explain-differences.ts'
import { JUSTIFIED } from '../../../testing/justified/openai-responses.ts'
import {
  hasRecordings,
  listCases,
  listRecordedRequests,
  type RecordedRequest,
  toSourceBody,
} from '../../../testing/recorded-requests.ts'
import type { Target } from '../../../upstream/target.ts'
import type { EncodedRequest } from '../../../upstream/upstream-request.ts'
import type { ParsedChat } from '../../shared/requests/parsed-chat.ts'
import { openAiResponses } from '../client/client.ts'
import { parseRequest } from './parse-request.ts'

const FOLDERS = ['openai', 'azure', 'xai', 'deepseek', 'bedrock', 'openrouter']
/** Fields that the server side parses or the client side writes. The others are sent as the caller's provider options. */
const CANONICAL: ReadonlySet<string> = new Set([
  ...['model', 'input', 'instructions', 'tools', 'tool_choice', 'parallel_tool_calls', 'text', 'reasoning'],
  ...['max_output_tokens', 'temperature', 'top_p', 'user', 'stream', 'store', 'include'],
])

function toTarget({ provider, model, body }: RecordedRequest): Target {
  return {
    provider: findProvider(provider) ?? custom,
    model: typeof body.model === 'string' ? body.model : model,
    baseUrl: 'https://example.com/v1',
    apiKey: '',
  }
}

const parse = (body: JsonObject): ParsedChat =>
  parseRequest(body, { isEndUser: false, source: toSourceBody('openai-responses', body) })

/** The paths of what not every target can give. */
function listFound(body: JsonObject): readonly string[] {
  const { nativeOnly, hosted, hostedTools, storedStatePaths, uncounted, unknownFields } = parse(body).findings
  const run = hostedTools.flatMap(({ path, choicePath }) =>
    choicePath === undefined ? path : [path, choicePath],
  )
  return [...nativeOnly, ...hosted, ...run, ...storedStatePaths, ...uncounted, ...unknownFields]
}

/** The canonical request of a recorded body, as the server side parses it. */
function toCanonical({ body, isStream }: RecordedRequest, provider: string): ChatRequest {
  const rest = Object.entries(body).filter(([name]) => !CANONICAL.has(name))
  const { request } = parse({ ...body, stream: isStream })
  return rest.length === 0
    ? request
    : { ...request, providerOptions: { [provider]: Object.fromEntries(rest) } }
}

/** Returns true if the gateway refuses the body because it cannot bill it: by its tier, a stored prompt, or a later answer. */
function isRefused(body: JsonObject): boolean {
  try {
    parse(body)
    return false
  } catch {
    return true
  }
}

/** Returns true if items bring tools, or the caller searches for some. */
function hasToolItems(body: JsonObject): boolean {
  return /"(?:additional_tools|tool_search_call|namespace|client)"[,}]/.test(
    JSON.stringify([body.input, body.tools ?? []]),
  )
}

/** The names of the tools that the caller runs, wherever they stand. */
function listOwnTools({ tools, input }: JsonObject): string[] {
  const lists = [
    tools,
    ...toObjects(input)
      .filter(isOfCaller)
      .map(item => item.tools),
  ]
  return lists.flatMap(listNames)
}

function isOfCaller({ type, call_id: id }: JsonObject): boolean {
  return type === 'additional_tools' || (type === 'tool_search_output' && typeof id === 'string')
}

function listNames(tools: Json | undefined): string[] {
  return toObjects(tools).flatMap(({ type, name, tools: inner, execution }) => {
    if (type === 'namespace') return listNames(inner)
    if (type === 'tool_search') return execution === 'client' ? ['tool_search'] : []
    return type === 'function' || type === 'custom' ? [String(name)] : []
  })
}

/** Returns true if every field has a canonical form. Others go to targets of this format only, as they were received. */
function isPortable(body: JsonObject): boolean {
  return listFound(body).length === 0
}

/** The place of a path such as `input[1].content[0]` in a body; undefined: the body has no such place. */
function findPlace(body: JsonObject, path: string): { parent: Json[] | JsonObject; key: string } | undefined {
  const steps = path.split(/[.[\]]+/).filter(step => step !== '')
  let parent: Json | undefined = body
  for (const step of steps.slice(0, -1)) {
    if (typeof parent !== 'object' || parent === null) return undefined
    parent = (parent as JsonObject)[step]
  }
  if (typeof parent !== 'object' || parent === null) return undefined
  return { parent: parent as Json[] | JsonObject, key: steps.at(-1) ?? '' }
}

/** The body without the fields that the findings name, as a target of another format gets it, and those fields. */
function withoutFindings(body: JsonObject): { rest: JsonObject; named: Difference[] } {
  const rest = structuredClone(body)
  const paths = listFound(body)
  // A part with the id of a file is left out as a whole.
  const places = paths.map(path => [path, findPlace(rest, path.replace(/\.file_id$/, ''))] as const)
  const named = places.map(([path, place]): Difference => {
    const recorded = place === undefined ? undefined : (place.parent as JsonObject)[place.key]
    return {
      path: `/named/${path.replaceAll(/[.[\]]+/g, '/').replace(/\/$/, '')}`,
      ours: undefined,
      recorded,
    }
  })
  for (const [, place] of places) if (place !== undefined) delete (place.parent as JsonObject)[place.key]
  for (const value of Object.values(rest)) removeHoles(value)
  for (const name of ['reasoning', 'text', 'tools']) {
    const value = rest[name]
    if (typeof value === 'object' && value !== null && Object.keys(value).length === 0) delete rest[name]
  }
  // Without tools there is no choice.
  if (rest.tools === undefined) delete rest.tool_choice
  return { rest, named }
}

/** Removes the holes that deleted entries leave in lists. */
function removeHoles(value: Json | undefined): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (let at = value.length - 1; at >= 0; at--) if (!(at in value)) value.splice(at, 1)
  }
  for (const each of Object.values(value)) removeHoles(each)
}

/**
 * Makes bodies of the same meaning equal: instructions are the first message, and a text is a list with one part.
 * Reasoning without encrypted content refers to state at the provider, and is left out.
 */
function normalize({ instructions, input, ...body }: JsonObject): JsonObject {
  const first =
    typeof instructions === 'string' && instructions !== ''
      ? [toItem({ role: 'system', content: instructions })]
      : []
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : toObjects(input)
  return { ...body, input: [...first, ...items.filter(isWhole).map(toItem)] }
}

function isWhole({ type, encrypted_content: data }: JsonObject): boolean {
  return type !== 'reasoning' || typeof data === 'string'
}

function toItem(item: JsonObject): JsonObject {
  if (item.type !== undefined && item.type !== 'message') return item
  return { ...item, type: 'message', content: toParts(item.content, item.role === 'assistant') }
}

function toParts(content: Json | undefined, isAnswer: boolean): Json | undefined {
  if (typeof content !== 'string') return content
  return isAnswer
    ? [{ type: 'output_text', text: content, annotations: [] }]
    : [{ type: 'input_text', text: content }]
}

const differences = (sent: EncodedRequest['body'], recorded: JsonObject) =>
  findDifferences(normalize(JSON.parse(sent.toString())), normalize(recorded))

if (!hasRecordings) console.log('skipped: the recordings of ../shared/wire are not there (265 requests)')

describe.skipIf(!hasRecordings)('a recorded request, parsed and encoded again', () => {
  const taken = FOLDERS.flatMap(folder => listRecordedRequests(folder, 'responses')).filter(
    ({ status, body, url }) => status === 200 && body.input !== undefined && !url.endsWith('/input_tokens'),
  )
  const received = taken.filter(({ body }) => !isRefused(body))
  const flattened = received.filter(({ body }) => hasToolItems(body))
  const other = received.filter(({ body }) => !hasToolItems(body))
  const portable = other.filter(({ body }) => isPortable(body))
  const found = other.filter(({ body }) => !isPortable(body))
  const cases = FOLDERS.flatMap(folder => listCases(folder, 'responses')).filter(
    ({ recorded }) => recorded.status === 200,
  )
  const justified = openJustifications(JUSTIFIED)

  test('all recordings are found', () => {
    expect([taken, received, portable, found, flattened, cases].map(({ length }) => length)).toEqual([
      277, 265, 175, 55, 35, 16,
    ])
  })

  test.each(portable.map(recorded => [recorded.name, recorded] as const))('%s', (name, recorded) => {
    const target = toTarget(recorded)
    const request = toCanonical(recorded, target.provider.id)
    const { body } = openAiResponses.encodeRequest(request, target, undefined)
    expect(justified.unexplained(name, differences(body, recorded.body))).toEqual([])
    expect(JSON.parse(body.toString()).stream).toBe(recorded.isStream ? true : undefined)
    // The model answered it, so it supports every parameter.
    expect(openAiResponses.listUnsupportedParams(request, target.provider, target.model)).toEqual([])
  })

  test.each(flattened.map(recorded => [recorded.name, recorded] as const))(
    'every tool of a namespace, an item or a search is a function, and every call of one leads back: %s',
    (_, { body }) => {
      const { request, repeated } = parse(body)
      const names = request.tools?.map(tool => tool.function.name) ?? []
      expect(new Set(names).size).toBe(names.length)
      const back = names.map(name => repeated?.calledTools.get(name)?.name ?? name)
      expect(new Set(back)).toEqual(new Set(listOwnTools(body)))
    },
  )

  test.each(found.map(recorded => [recorded.name, recorded] as const))(
    'with findings, loses what they name and nothing else: %s',
    (name, recorded) => {
      const target = toTarget(recorded)
      const { rest, named } = withoutFindings(recorded.body)
      // Each finding is the path of something in the body.
      for (const { path, recorded: value } of named) expect([path, value]).not.toEqual([path, undefined])
      const request = toCanonical({ ...recorded, body: rest }, target.provider.id)
      const whole = toCanonical(recorded, target.provider.id)
      // The rest is parsed as if the named fields were not there.
      const { extra, ...meant } = whole
      expect({ ...request, providerOptions: undefined }).toEqual({ ...meant, providerOptions: undefined })
      // The findings name every extra field.
      const names = named.map(({ path }) => path.replace('/named/', ''))
      expect(names).toEqual(expect.arrayContaining([...(extra?.keys() ?? [])]))
      const { body } = openAiResponses.encodeRequest(request, target, undefined)
      const left = [...differences(body, rest), ...named]
      expect(justified.unexplained(name, left)).toEqual([])
    },
  )

  test.each(received.map(recorded => [recorded.name, recorded] as const))(
    'passes through unchanged: %s',
    (_, recorded) => {
      const target = toTarget(recorded)
      const source = toSourceBody('openai-responses', recorded.body)
      const { request } = parse(recorded.body)
      expect(openAiResponses.listUnsupportedParams(request, target.provider, target.model, source)).toEqual(
        [],
      )
      const { body } = openAiResponses.encodeRequest(request, target, source)
      expect(findDifferences(JSON.parse(body.toString()), recorded.body)).toEqual([])
    },
  )

  test.each(cases.map(one => [one.name, one] as const))(
    'is encoded from the canonical request: %s',
    (name, { request, recorded }) => {
      const { body } = openAiResponses.encodeRequest(request, toTarget(recorded), undefined)
      expect(justified.unexplained(`canonical ${name}`, differences(body, recorded.body))).toEqual([])
    },
  )

  test('every justification is needed', () => {
    expect(justified.unused()).toEqual([])
  })
})
