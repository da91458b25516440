import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '../json/json-value.ts'
import { toObject } from '../json/json-value.ts'
import { findProvider } from '../providers/index.ts'
import type { ChatRequest } from '../request/chat-request.ts'
import type { Target } from '../upstream/target.ts'
import { anthropicMessages } from './anthropic-messages/client/client.ts'
import { bedrockConverse } from './bedrock-converse/client/client.ts'
import { cohereV2 } from './cohere-v2/client/client.ts'
import { geminiContent } from './gemini-content/client/client.ts'
import { ollamaChat } from './ollama-chat/client/client.ts'
import { openAiChat } from './openai-chat/client/client.ts'
import { openAiResponses } from './openai-responses/client/client.ts'
import type { ClientFormat } from './shared/client-format.ts'

/** No encoder loses a property of a schema, whatever it is called, or changes the caller's schema. */

const ENCODERS: readonly (readonly [model: string, format: ClientFormat])[] = [
  ['groq/llama-3.3-70b-versatile', openAiChat],
  ['mistral/mistral-large-latest', openAiChat],
  ['openai/gpt-5-pro', openAiResponses],
  ['anthropic/claude-sonnet-4-6', anthropicMessages],
  ['anthropic/claude-3-haiku-20240307', anthropicMessages],
  ['bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0', bedrockConverse],
  ['bedrock/us.amazon.nova-lite-v1:0', bedrockConverse],
  ['gemini/gemini-3-flash-preview', geminiContent],
  ['gemini/gemini-2.0-flash', geminiContent],
  ['cohere/command-a-03-2025', cohereV2],
  ['ollama/qwen3:8b', ollamaChat],
]

/** Names of properties: keywords, names of prototypes, and others. */
const NAMES = [
  ...[
    'type',
    'properties',
    'required',
    'items',
    'enum',
    'const',
    'format',
    'pattern',
    'ref',
    '$ref',
    '$defs',
  ],
  ...['description', 'title', 'default', 'additionalProperties', 'anyOf', 'minimum', '$schema', '$id', 'not'],
  ...['__proto__', 'constructor', 'toString', 'a', 'snake_case', 'é', 'with space', 'a.b', 'x/y'],
]

const leaf: fc.Arbitrary<JsonObject> = fc.oneof(
  fc.constantFrom<JsonObject>(
    { type: 'string', description: 'd', pattern: '^a$', minLength: 1 },
    { type: 'string', format: 'date-time' },
    { type: ['integer', 'null'], minimum: 0, maximum: 9, default: 1 },
    { enum: ['a', 'b', null] },
    { const: 1 },
    {},
    { $ref: '#/$defs/a' },
  ),
)

/** A keyword with one schema, or with a list of them. */
const AROUND = ['items', 'not', 'additionalProperties', 'if', 'then', 'contains', 'propertyNames'] as const
const LISTS = ['anyOf', 'oneOf', 'allOf', 'prefixItems'] as const
const MAPS = ['properties', '$defs', 'definitions', 'patternProperties', 'dependentSchemas'] as const

function toMap(entries: readonly (readonly [string, JsonObject])[]): JsonObject {
  return Object.fromEntries(entries)
}

const { schema } = fc.letrec<{ schema: JsonObject; object: JsonObject }>(tie => {
  const map = fc
    .uniqueArray(fc.tuple(fc.constantFrom(...NAMES), tie('schema')), {
      maxLength: 3,
      selector: ([name]) => name,
    })
    .map(entries => toMap(entries as [string, JsonObject][]))
  return {
    object: fc
      .tuple(map, fc.constantFrom(...MAPS), map, fc.boolean())
      .map(([properties, keyword, more, isClosed]) => ({
        type: 'object',
        ...(keyword === 'properties' || Object.keys(more).length === 0 ? {} : { [keyword]: more }),
        properties,
        required: Object.keys(properties),
        ...(isClosed ? { additionalProperties: false } : {}),
      })),
    schema: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      leaf,
      tie('object') as fc.Arbitrary<JsonObject>,
      fc
        .tuple(fc.constantFrom(...AROUND), tie('schema'))
        .map(([keyword, inner]) => ({ [keyword]: inner as Json })),
      fc
        .tuple(fc.constantFrom(...LISTS), fc.array(tie('schema'), { minLength: 1, maxLength: 2 }))
        .map(([keyword, list]) => ({ [keyword]: list as Json[] })),
    ),
  }
})
const OF_NO_OBJECT = new Set([
  ...['items', 'prefixItems', 'contains', 'propertyNames'],
  ...['$defs', 'definitions'],
])
/** What a tool or an answer may have at the root: an object, in some way. */
const root = schema.map((inner): JsonObject => ({ type: 'object', ...inner }))

/** The names of all properties in a schema, with repetitions. */
function listProperties(value: Json | undefined): string[] {
  if (Array.isArray(value)) return value.flatMap(listProperties)
  const object = toObject(value)
  if (object === undefined) return []
  return Object.entries(object).flatMap(([keyword, inner]) => {
    if (!(MAPS as readonly string[]).includes(keyword)) return listProperties(inner)
    const entries = Object.entries(toObject(inner) ?? {})
    return entries.flatMap(([name, each]) => [name, ...listProperties(each)])
  })
}

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const each of Object.values(value)) freeze(each)
    Object.freeze(value)
  }
  return value
}

/** A schema may stand in a text, even in one within a text. */
const countNames = (text: string, name: string): number =>
  text.replaceAll('\\', '').split(`${JSON.stringify(name)}:`).length - 1

function encode([id, format]: (typeof ENCODERS)[number], fields: Partial<ChatRequest>): string | undefined {
  const [provider = '', ...model] = id.split('/')
  const target: Target = {
    provider: findProvider(provider) as Target['provider'],
    model: model.join('/'),
    baseUrl: 'https://a.example/v1',
    apiKey: 'k',
  }
  const request: ChatRequest = {
    model: id,
    messages: [{ role: 'user', content: 'Hi' }],
    stream: false,
    includeUsage: false,
    ...fields,
  }
  if (format.listUnsupportedParams(request, target.provider, target.model).length > 0) return undefined
  return format.encodeRequest(request, target, undefined).body.toString()
}

describe.each(ENCODERS)('%s', (...encoder) => {
  test('gets the schema of a tool with every property', () => {
    fc.assert(
      fc.property(root, parameters => {
        const before = JSON.stringify(parameters)
        const tool = { type: 'function' as const, function: { name: 'f', parameters: freeze(parameters) } }
        const sent = encode(encoder, { tools: [tool] })
        expect(JSON.stringify(parameters)).toBe(before)
        expect(sent).toBeDefined()
        // Keywords for lists, and definitions that nothing names, say nothing about an object.
        const said = Object.entries(parameters).filter(([keyword]) => !OF_NO_OBJECT.has(keyword))
        if (said.flatMap(([keyword, value]) => listProperties({ [keyword]: value })).length === 0) return
        expect(sent).toContain(before)
      }),
      { numRuns: 300 },
    )
  })

  test('gets the schema of an answer with every property', () => {
    fc.assert(
      fc.property(root, given => {
        const before = JSON.stringify(given)
        const sent = encode(encoder, {
          responseFormat: { type: 'json_schema', json_schema: { name: 'answer', schema: freeze(given) } },
        })
        expect(JSON.stringify(given)).toBe(before)
        if (sent === undefined) return
        const names = listProperties(given)
        const lost = names.filter(name => countNames(sent, name) < names.filter(each => each === name).length)
        expect(lost).toEqual([])
      }),
      { numRuns: 300 },
    )
  })
})
