import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { OPENAI_RULES as EMBEDDINGS } from '../embeddings/embedding-rules.ts'
import { FIELDS as ANTHROPIC } from '../formats/anthropic-messages/wire/fields.ts'
import { FIELDS as CONVERSE } from '../formats/bedrock-converse/wire/fields.ts'
import { FIELDS as COHERE } from '../formats/cohere-v2/wire/fields.ts'
import { FIELDS as GEMINI } from '../formats/gemini-content/wire/fields.ts'
import { FIELDS as OLLAMA } from '../formats/ollama-chat/wire/fields.ts'
import { FIELDS as CHAT } from '../formats/openai-chat/wire/fields.ts'
import { FIELDS as RESPONSES } from '../formats/openai-responses/wire/fields.ts'
import type { Json, JsonObject } from '../json/json-value.ts'
import { PROVIDERS } from '../providers/index.ts'
import { CLAUDE_AND_GEMINI_CASES } from '../testing/outgoing/claude-gemini-cases.ts'
import { OPENAI_CASES } from '../testing/outgoing/openai-cases.ts'
import { OTHER_CASES } from '../testing/outgoing/other-cases.ts'
import { ADDRESSES, type Case, EVERYWHERE } from '../testing/outgoing/outgoing-case.ts'
import { findForbidden } from './outgoing-body.ts'
import type { FieldRules, Grant, Sender } from './outgoing-rules.ts'

const GRANT: Grant = {
  sender: 'key',
  model: 'm',
  isStream: false,
  choices: 1,
  maxOutputTokens: 64,
  addresses: 'any',
}

function find(rules: FieldRules, value: JsonObject, sender: Sender): string | undefined {
  const addresses = sender === 'key' ? 'any' : 'public'
  return findForbidden({ rules, value }, { ...GRANT, sender, addresses })
}

const SENDERS: readonly Sender[] = ['key', 'trusted_end_user', 'end_user']

const CASES: Readonly<Record<string, Case>> = { ...OPENAI_CASES, ...CLAUDE_AND_GEMINI_CASES, ...OTHER_CASES }

describe.each(Object.entries(CASES))('%s', (_, { rules, body, ofKeys, stored, refused }) => {
  test('lets every caller send what is known to be harmless', () => {
    for (const sender of SENDERS) expect(find(rules, body, sender)).toBeUndefined()
  })

  test.each(ofKeys)('refuses end users %s', (path, fields) => {
    expect(find(rules, { ...body, ...fields }, 'end_user')).toBe(path)
    expect(find(rules, { ...body, ...fields }, 'key')).toBeUndefined()
    const isStored = path === 'cachedContent'
    if (!isStored) expect(find(rules, { ...body, ...fields }, 'trusted_end_user')).toBeUndefined()
  })

  test.each(stored)('refuses end users %s, also where the environment trusts them', (path, fields) => {
    expect(find(rules, { ...body, ...fields }, 'end_user')).toBe(path)
    expect(find(rules, { ...body, ...fields }, 'trusted_end_user')).toBe(path)
    expect(find(rules, { ...body, ...fields }, 'key')).toBeUndefined()
  })

  test.each([...refused, ...EVERYWHERE])('refuses every caller %s', (path, fields) => {
    const found = find(rules, { ...body, ...fields }, 'key')
    expect(found).toBe(path)
    for (const sender of SENDERS) expect(find(rules, { ...body, ...fields }, sender)).toBeDefined()
  })
})

/** Fields in whose objects every name is the caller's own. */
const DATA: ReadonlySet<string> = new Set([
  ...['input', 'arguments', 'args', 'json', 'response', 'data', 'metadata', 'requestMetadata', 'logit_bias'],
  ...['parsed', 'citationsContent', 'configs'],
])

/** Every object of a body in which a field has a meaning for the provider, by its path. */
function listObjects(value: Json, path: string): [string, JsonObject][] {
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.flatMap((each, at) => listObjects(each, `${path}[${at}]`))
  // A schema.
  if (value.type === 'object') return []
  const inner = Object.entries(value).flatMap(([name, each]) =>
    DATA.has(name) && !Array.isArray(each) ? [] : listObjects(each as Json, `${path}.${name}`),
  )
  return [[path, value], ...inner]
}

const SEED = Number(process.env.RIDEAU_TEST_SEED ?? Date.now() % 2_147_483_647)
const RUNS = Number(process.env.RIDEAU_TEST_RUNS ?? 3_000)

const NAMES = [
  ...['model', 'MODEL', 'ſtream', 'stream', 'n', 'N', 'candidateCount', 'tools', 'Tools', 'systemTool'],
  ...['web_search', 'file_id', 'container', 'service_tier', 'fallback', 'constructor', 'toString', '', 'a.b'],
  ...['max_tokens', 'maxOutputTokens', 'googleSearch', 'cachedContent', 'provider', 'extra_body'],
]

test(`no unknown field of any object leaves for an end user, and none changes what was granted (seed ${SEED})`, () => {
  const name = fc.oneof(fc.constantFrom(...NAMES), fc.string({ maxLength: 8 }))
  const value = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>
  const place = fc.record({ format: fc.constantFrom(...Object.keys(CASES)), at: fc.nat(), name, value })
  let refused = 0
  fc.assert(
    fc.property(place, ({ format, at, name: added, value: given }) => {
      const { rules, body } = CASES[format] as Case
      const copy = structuredClone(body)
      const objects = listObjects(copy, '')
      const [path, object] = objects[at % objects.length] as [string, JsonObject]
      fc.pre(!Object.hasOwn(object, added) && added !== '__proto__')
      const asUser = (): string | undefined => find(rules, copy, 'end_user')
      object[added] = given
      // A name that the place knows may be sent: then its value is checked, and an unknown one beside it is not.
      const isKnown = asUser() === undefined
      delete object[added]
      if (isKnown) {
        object[`${added}_novelty`] = given
        expect([format, path, asUser()]).toEqual([format, path, expect.any(String)])
        return
      }
      refused++
    }),
    { seed: SEED, numRuns: RUNS },
  )
  expect(refused).toBeGreaterThan(RUNS / 2)
})

/** Fields whose texts no provider takes for an address. */
const PLAIN: ReadonlySet<string> = new Set([
  ...[
    'allowedFunctionNames',
    'arguments',
    'call_id',
    'description',
    'documents',
    'effort',
    'encoding_format',
    'prompt_cache_key',
    'prompt_cache_retention',
  ],
  ...[
    'encrypted_content',
    'execution',
    'include',
    'input',
    'instructions',
    'media_type',
    'mimeType',
    'mime_type',
  ],
  ...[
    'mode',
    'output',
    'phase',
    'prompt',
    'safety_mode',
    'schema',
    'size',
    'status',
    'stop',
    'stopSequences',
  ],
  ...[
    'summary',
    'thinking',
    'thoughtSignature',
    'title',
    'toolUseId',
    'tool_call_id',
    'tool_choice',
    'tool_name',
  ],
  ...[
    'tool_plan',
    'tool_use_id',
    'user',
    'user_id',
    'verbosity',
    'content',
    'detail',
    'filename',
    'format',
    'id',
    'name',
    'role',
    'signature',
    'text',
    'ttl',
    'type',
  ],
  // In arguments of tools and in metadata.
  ...['model', 'file_id', 'n'],
])

/** Every place of a text in a body: `put` writes another one there. */
function listTexts(value: Json, name: string): { name: string; put: (text: string) => void }[] {
  if (typeof value !== 'object' || value === null) return []
  const entries = Array.isArray(value) ? value.map(each => [name, each] as const) : Object.entries(value)
  return entries.flatMap(([inner, each], at) => {
    const key = Array.isArray(value) ? at : inner
    const put = (text: string): void => {
      ;(value as Record<string | number, Json>)[key] = text
    }
    return typeof each === 'string' ? [{ name: inner, put }] : listTexts(each as Json, inner)
  })
}

test.each(Object.entries(CASES))('%s: every text that may be an address is checked', (_, { rules, body }) => {
  const count = listTexts(structuredClone(body), '').length
  const unchecked: string[] = []
  for (let at = 0; at < count; at++) {
    for (const address of ADDRESSES) {
      for (const sender of ['trusted_end_user', 'end_user'] as const) {
        const copy = structuredClone(body)
        const { name, put } = listTexts(copy, '')[at] as { name: string; put: (text: string) => void }
        put(address)
        if (!PLAIN.has(name) && find(rules, copy, sender) === undefined)
          unchecked.push(`${name}: ${address.slice(0, 80)}`)
      }
    }
  }
  expect(unchecked).toEqual([])
})

test(`whatever is added to a body, its model, stream and count are the granted ones (seed ${SEED})`, () => {
  const extra = fc.dictionary(
    fc.oneof(fc.constantFrom(...NAMES), fc.string({ maxLength: 6 })),
    fc.jsonValue(),
  )
  fc.assert(
    fc.property(fc.constantFrom(...Object.keys(CASES)), extra, (format, fields) => {
      const { rules, body } = CASES[format] as Case
      const sent = { ...body, ...(fields as JsonObject) }
      for (const sender of SENDERS) {
        if (find(rules, sent, sender) !== undefined) continue
        for (const [own, granted] of [
          ['model', 'm'],
          ['stream', false],
          ['n', 1],
        ] as const) {
          if (Object.hasOwn(sent, own) && sent[own] !== null) expect([0, granted]).toContain(sent[own])
        }
      }
    }),
    { seed: SEED, numRuns: RUNS },
  )
})

test("every provider's other words for parameters are known to be harmless", () => {
  for (const { openai, embeddings } of PROVIDERS) {
    const words = Object.values(openai?.renamed ?? {}).map((name): JsonObject => ({ [name]: 1 }))
    const efforts = Object.values(openai?.reasoningEfforts ?? {})
    for (const fields of [...words, ...efforts]) expect(find(CHAT.rules, fields, 'end_user')).toBeUndefined()
    const dimensions = embeddings?.openai?.dimensions
    if (dimensions !== undefined) expect(find(EMBEDDINGS, { [dimensions]: 9 }, 'end_user')).toBeUndefined()
  }
})

test('JSON inside a string reaches nothing stored either, however deep it is', () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  for (const novelty of ['{"a":[{"file_id":"f"}]}', { a: '{"store":true}' }, deep]) {
    expect(find(CHAT.rules, { novelty }, 'trusted_end_user')).toBeDefined()
  }
  expect(find(CHAT.rules, { novelty: '{"a":1}' }, 'trusted_end_user')).toBeUndefined()
})

test('a field that a table lists without a rule goes to no provider', () => {
  const listed = [CHAT, RESPONSES, ANTHROPIC, GEMINI, CONVERSE, COHERE, OLLAMA]
  for (const { names, rules } of listed) {
    for (const name of names) expect(rules.find(name)).toBeDefined()
  }
})
