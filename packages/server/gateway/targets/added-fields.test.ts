import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { json } from '../../testing/fakes/scripted-upstream.ts'
import { type FormatHarness, openFormatHarness } from '../../testing/harness/format-harness.ts'
import { FORMAT_REQUESTS } from '../../testing/harness/format-requests.ts'
import { FORMAT_TARGETS } from '../../testing/harness/format-targets.ts'

/** Random extra fields in every format, to providers of every format, cannot change what is authorized or priced. */

let harness: FormatHarness
const send: FormatHarness['send'] = (...args) => harness.send(...args)
const set: FormatHarness['set'] = fields => harness.set(fields)

beforeAll(async () => {
  harness = await openFormatHarness()
})

afterAll(() => harness.close())

/** Plain names of the fields that are compared, in any spelling and at any depth. */
const CRITICAL = new Set([
  ...['model', 'models', 'modelid', 'route', 'fallback', 'fallbacks', 'n', 'candidatecount', 'bestof'],
  ...['stream', 'maxtokens', 'maxcompletiontokens', 'maxoutputtokens', 'maxnewtokens', 'numpredict', 'tools'],
  ...['toolconfig', 'servicetier', 'container', 'thread', 'billingpolicy', 'messages', 'contents', 'input'],
  ...['system', 'systeminstruction', 'prompt', 'mcpservers', 'websearch'],
])

function toPlain(name: string): string {
  const folded = name.normalize('NFKC').toUpperCase().toLowerCase()
  return folded.replaceAll(/[^a-z0-9]/g, '')
}

function listCritical(value: unknown, path = ''): [string, unknown][] {
  if (typeof value !== 'object' || value === null) return []
  const plain = Object.keys(value).map(toPlain)
  return Object.entries(value).flatMap(([name, each], at): [string, unknown][] => {
    const own = plain[at] ?? ''
    if (!CRITICAL.has(own)) return listCritical(each, `${path}/${name}`)
    // Null is harmless unless the real field is present too: a parser that ignores case would take it for that field.
    const isNothing = each === null && plain.indexOf(own) === plain.lastIndexOf(own)
    return isNothing ? [] : [[`${path}/${name}`, each]]
  })
}

/** Fields of each format that the caller may set. Their values are the authorized ones. */
const OWN: Readonly<Record<string, readonly string[]>> = {
  native: [
    'model',
    'messages',
    'n',
    'stream',
    'tools',
    'max_tokens',
    'max_completion_tokens',
    'max_output_tokens',
  ],
  'openai-chat': [
    ...[
      'model',
      'messages',
      'n',
      'stream',
      'tools',
      'max_tokens',
      'max_completion_tokens',
      'max_output_tokens',
    ],
    ...['input', 'service_tier'],
  ],
  'openai-responses': ['model', 'input', 'stream', 'tools', 'max_output_tokens', 'service_tier'],
  'anthropic-messages': ['model', 'messages', 'system', 'stream', 'tools', 'max_tokens', 'service_tier'],
  'gemini-content': [
    ...['model', 'contents', 'tools', 'toolConfig', 'tool_config', 'generationConfig', 'generation_config'],
    ...['serviceTier', 'service_tier', 'systemInstruction', 'system_instruction'],
  ],
  'bedrock-converse': ['messages', 'system', 'toolConfig', 'inferenceConfig', 'serviceTier'],
  'cohere-v2': ['model', 'messages', 'stream', 'tools', 'max_tokens'],
  'ollama-chat': ['model', 'messages', 'stream', 'tools', 'options'],
}

const NAMES = [
  ...['model', 'Model', 'MODEL', 'mOdel', 'models', 'model_id', 'modelId', 'route', 'fallback', 'fallbacks'],
  ...['n', 'N', 'candidateCount', 'candidate_count', 'best_of', 'bestOf', 'stream', 'Stream', 'ſtream'],
  ...[
    'max_tokens',
    'maxTokens',
    'MAX_TOKENS',
    'max_completion_tokens',
    'max_output_tokens',
    'maxOutputTokens',
  ],
  ...['max_new_tokens', 'num_predict', 'numPredict', 'tools', 'Tools', 'toolConfig', 'tool_config'],
  ...[
    'service_tier',
    'serviceTier',
    'container',
    'thread',
    'billing_policy',
    'messages',
    'meſſages',
    'contents',
  ],
  ...['input', 'system', 'system_instruction', 'systemInstruction', 'prompt', 'mcp_servers', 'web_search'],
]
const PLACES = [
  ...[
    'extra_body',
    'generationConfig',
    'generation_config',
    'inferenceConfig',
    'additionalModelRequestFields',
  ],
  ...[
    'options',
    'parameters',
    'request_options',
    'google',
    'config',
    'thinking',
    'a',
    'b.c',
    'a[0]',
    '',
    'top_k',
  ],
  ...['cache_control', 'safety_settings', 'provider', '__proto__', 'constructor', 'think', 'keep_alive'],
]

const extras = fc.letrec(tie => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<unknown>(
      100,
      true,
      1,
      'groq/other',
      null,
      'flex',
      '{"model":"x","n":9}',
      [],
      [{ model: 'x' }],
    ),
    fc.array(tie('object'), { maxLength: 2 }),
    tie('object'),
  ),
  object: fc.dictionary(
    fc.oneof(fc.constantFrom(...PLACES), fc.constantFrom(...NAMES), fc.string({ maxLength: 6 })),
    tie('value'),
    { maxKeys: 3 },
  ),
})).object as fc.Arbitrary<Record<string, unknown>>

/** A seed reproduces the same inputs. */
const RUNS = Number(process.env.RIDEAU_TEST_RUNS ?? 600)
const SEED = Number(process.env.RIDEAU_TEST_SEED ?? Date.now() % 2_147_483_647)

test(`chat: sends the provider what was authorized, or refuses the request (seed ${SEED})`, async () => {
  await set({ unsupported_params: 'drop', allow_client_passthrough: true })
  const usual = new Map<string, unknown>()
  let [sent, refused] = [0, 0]
  const request = fc.record({
    format: fc.constantFrom(...Object.keys(FORMAT_REQUESTS)),
    target: fc.constantFrom(...Object.keys(FORMAT_TARGETS)),
    isToken: fc.boolean(),
    place: fc.constantFrom('provider_options', 'extra_body', undefined),
    extra: extras,
  })
  await fc.assert(
    fc.asyncProperty(request, async ({ format, target, isToken, place, extra }) => {
      const tools = FORMAT_REQUESTS[format]?.tools ?? {}
      const key = isToken ? harness.token : harness.app.secretKey
      const known = `${format} ${target}`
      if (!usual.has(known)) usual.set(known, listCritical((await send(format, target, tools)).sent[0]))
      const provider = FORMAT_TARGETS[target]?.[0].split('/')[0] ?? ''
      const added =
        place === undefined
          ? Object.fromEntries(Object.entries(extra).filter(([name]) => OWN[format]?.includes(name) !== true))
          : { [place]: place === 'provider_options' ? { [provider]: extra } : extra }
      const outcome = await send(format, target, { ...tools, ...added }, key)
      expect([200, 400]).toContain(outcome.status)
      if (outcome.status === 400) expect(outcome.sent).toEqual([])
      for (const body of outcome.sent) expect(listCritical(body)).toEqual(usual.get(known))
      if (outcome.status === 200) sent++
      else refused++
    }),
    { seed: SEED, numRuns: RUNS },
  )
  // Both results occur often.
  expect(Math.min(sent, refused)).toBeGreaterThan(RUNS / 10)
  await set({ unsupported_params: 'refuse', allow_client_passthrough: false })
})

/** Embeddings and images in OpenAI's format. */
const OTHERS = [
  {
    route: '/openai/v1/embeddings',
    body: { model: 'openai/text-embedding-3-small', input: 'x' },
    own: ['model', 'input'],
    answer: json(200, {
      data: [{ index: 0, embedding: [1, 2] }],
      usage: { prompt_tokens: 1, total_tokens: 1 },
    }),
  },
  {
    route: '/openai/v1/images/generations',
    body: { model: 'openai/gpt-image-1', prompt: 'a fox' },
    own: ['model', 'prompt', 'n', 'stream'],
    answer: json(200, { created: 1, data: [{ b64_json: 'QUJD' }] }),
  },
]

test(`embeddings and images: sends the provider what was authorized, or refuses the request (seed ${SEED})`, async () => {
  const { app, upstream } = harness
  const send = async (at: number, added: Record<string, unknown>): Promise<readonly unknown[]> => {
    const { route, body, answer } = OTHERS[at] as (typeof OTHERS)[number]
    upstream.script(answer)
    const before = upstream.requests.length
    const { status } = await app.call(route, { ...body, ...added })
    expect([200, 400]).toContain(status)
    const sent = upstream.requests.slice(before).map(({ body: each }) => listCritical(each))
    expect(sent).toHaveLength(status === 200 ? 1 : 0)
    return sent
  }
  const usual = [await send(0, {}), await send(1, {})]
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(0, 1), fc.boolean(), extras, async (at, isWithin, extra) => {
      const others = Object.entries(extra).filter(([name]) => OTHERS[at]?.own.includes(name) !== true)
      const sent = await send(at, isWithin ? { extra_body: extra } : Object.fromEntries(others))
      if (sent.length > 0) expect(sent).toEqual(usual[at])
    }),
    { seed: SEED, numRuns: Math.ceil(RUNS / 3) },
  )
})
