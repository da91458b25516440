import fc from 'fast-check'
import { anyForm } from './any-form.ts'
import { anyText, toUrlText } from './any-text.ts'
import { FORM_REQUESTS, TRANSCRIBERS } from './form-requests.ts'
import { FORMAT_REQUESTS, toFormatRequest } from './format-requests.ts'
import { FORMAT_TARGETS } from './format-targets.ts'

/** The formats of providers, each with a model and an answer. */
export const TARGETS = Object.entries(FORMAT_TARGETS)
const SANDBOX = 'sandbox/echo'
const EMBEDDING = 'openai/text-embedding-3-small'
const IMAGE = 'openai/gpt-image-1'
const COMPACT = 'openai/gpt-5.4'
const SPEECH = 'openai/gpt-4o-mini-tts'
const RERANK = 'cohere/rerank-v3.5'
/** Every model that the requests name. */
export const MODELS = [
  ...TARGETS.map(([, [model]]) => model),
  SANDBOX,
  EMBEDDING,
  IMAGE,
  COMPACT,
  SPEECH,
  RERANK,
  ...TRANSCRIBERS,
  'sandbox/embed',
  'sandbox/image',
]

/** A request as it is written to the connection, in Latin-1. */
export interface AnyRequest {
  readonly method: string
  readonly path: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string
  /** Whether the route leaves a record for every request that is not refused at the door. */
  readonly isMetered: boolean
}

const JSON_TYPE = ['content-type', 'application/json'] as const
/** Marks the place of the text within JSON. */
const SLOT = '\u0001slot'

/** Returns every JSON text in which one string, or the name of one field, is replaced by the slot. */
function listSlots(value: unknown): string[] {
  const found: string[] = []
  const visit = (each: unknown, put: (other: unknown) => unknown): void => {
    if (typeof each === 'string') found.push(JSON.stringify(put(SLOT)))
    else if (Array.isArray(each)) {
      for (const [at, part] of each.entries()) visit(part, other => put(each.with(at, other)))
    } else if (typeof each === 'object' && each !== null) {
      found.push(JSON.stringify(put({ ...each, [SLOT]: 'x' })))
      for (const [name, part] of Object.entries(each)) {
        const { [name]: _, ...others } = each as Record<string, unknown>
        found.push(JSON.stringify(put({ ...others, [SLOT]: part })))
        visit(part, other => put({ ...each, [name]: other }))
      }
    }
  }
  visit(value, other => other)
  return found
}

const fill = (slotted: string, text: string): string =>
  Buffer.from(
    slotted.replace(JSON.stringify(SLOT), () => JSON.stringify(text)),
    'utf8',
  ).toString('latin1')

/** Fields with texts besides those of the smallest request. */
const MORE: Readonly<Record<string, Record<string, unknown>>> = {
  native: {
    metadata: { a: 'b' },
    user: 'u',
    stop: ['s'],
    tool_choice: 'auto',
    provider_options: { groq: { user: 'x' } },
  },
  'openai-chat': {
    metadata: { a: 'b' },
    user: 'u',
    stop: ['s'],
    response_format: { type: 'text' },
    service_tier: 'auto',
  },
  'openai-responses': {
    metadata: { a: 'b' },
    user: 'u',
    instructions: 'i',
    previous_response_id: 'r',
    include: ['x'],
  },
  'anthropic-messages': {
    metadata: { user_id: 'u' },
    system: 's',
    stop_sequences: ['s'],
    service_tier: 'auto',
  },
  'gemini-content': { labels: { a: 'b' }, cachedContent: 'c', systemInstruction: { parts: [{ text: 's' }] } },
  'bedrock-converse': {
    requestMetadata: { a: 'b' },
    system: [{ text: 's' }],
    performanceConfig: { latency: 'standard' },
  },
  'cohere-v2': { stop_sequences: ['s'], safety_mode: 'OFF', documents: ['d'] },
  'ollama-chat': { format: 'json', keep_alive: '5m', think: 'low' },
}

/** For every format and every model of a chat: its request, with any text in one place. */
export function listChatRequests(): fc.Arbitrary<AnyRequest>[] {
  return Object.entries(FORMAT_REQUESTS).flatMap(([format, { tools }]) =>
    [SANDBOX, ...TARGETS.map(([, [model]]) => model)].map(model => {
      const { route, body } = toFormatRequest(format, model, { ...tools, ...MORE[format] })
      const slots = [
        body,
        ...(model === SANDBOX && 'model' in body ? [{ ...body, stream: true }] : []),
      ].flatMap(listSlots)
      return fc.tuple(fc.constantFrom(...slots), anyText, headersOf()).map(([slotted, text, headers]) => ({
        ...{
          method: 'POST',
          path: route,
          headers: [JSON_TYPE, ...headers],
          body: fill(slotted, text),
          isMetered: true,
        },
      }))
    }),
  )
}

const OTHERS: readonly (readonly [route: string, body: object, isMetered: boolean])[] = [
  [
    '/v1/embeddings',
    { model: EMBEDDING, input: ['a', 'b'], encoding_format: 'float', metadata: { a: 'b' } },
    true,
  ],
  ['/openai/v1/embeddings', { model: 'sandbox/embed', input: 'a', user: 'u' }, true],
  [
    '/openai/v1/images/generations',
    { model: IMAGE, prompt: 'p', size: '1024x1024', quality: 'low', user: 'u' },
    true,
  ],
  [
    '/openai/v1/images/generations',
    { model: 'sandbox/image', prompt: 'p', response_format: 'b64_json' },
    true,
  ],
  [
    '/anthropic/v1/messages/count_tokens',
    { model: SANDBOX, messages: [{ role: 'user', content: 'hi' }], system: 's' },
    true,
  ],
  [
    `/gemini/v1beta/models/${encodeURIComponent(SANDBOX)}:countTokens`,
    { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
    true,
  ],
  [
    '/openai/v1/responses/compact',
    { model: COMPACT, input: [{ role: 'user', content: 'hi' }], instructions: 'i', prompt_cache_key: 'k' },
    true,
  ],
  ['/openai/v1/audio/speech', { model: SPEECH, input: 'a', voice: 'alloy', instructions: 'i' }, true],
  ['/cohere/v2/rerank', { model: RERANK, query: 'q', documents: ['a', 'b'] }, true],
  [
    '/v1/feedback',
    { request_id: '018f3b2e-0000-7000-8000-000000000000', score: 1, comment: 'c', tags: ['t'] },
    false,
  ],
  ['/ollama/api/show', { model: SANDBOX, name: 'x' }, false],
]

/** Returns requests for every route with a body in JSON that is no chat. */
export function listOtherRequests(): fc.Arbitrary<AnyRequest>[] {
  return OTHERS.map(([path, body, isMetered]) =>
    fc.tuple(fc.constantFrom(...listSlots(body)), anyText, headersOf()).map(([slotted, text, headers]) => ({
      ...{ method: 'POST', path, headers: [JSON_TYPE, ...headers], body: fill(slotted, text), isMetered },
    })),
  )
}

/** Returns requests for every route with a form. */
export function listFormRequests(): fc.Arbitrary<AnyRequest>[] {
  return FORM_REQUESTS.map(([path, parts]) =>
    fc.tuple(anyForm(parts), headersOf()).map(([{ contentType, body }, headers]) => ({
      ...{ method: 'POST', path, headers: [['content-type', contentType] as const, ...headers] },
      ...{ body, isMetered: true },
    })),
  )
}

const HEADERS = [
  ...[
    'x-request-id',
    'x-rideau-end-user',
    'origin',
    'anthropic-beta',
    'anthropic-version',
    'x-goog-api-client',
  ],
  ...[
    'openai-organization',
    'idempotency-key',
    'x-forwarded-for',
    'user-agent',
    'accept',
    'accept-encoding',
    'cookie',
  ],
]
/** What may be in a header: no line ends. */
const headerText = fc.oneof(
  fc
    .array(fc.integer({ min: 0x20, max: 0xff }), { maxLength: 60 })
    .map(bytes => Buffer.from(bytes).toString('latin1')),
  fc.constantFrom('', '__proto__', 'constructor', 'member:1', 'device:1', 'x'.repeat(2_000), 'ÿ'.repeat(600)),
)

function headersOf(): fc.Arbitrary<(readonly [string, string])[]> {
  return fc.array(fc.tuple(fc.constantFrom(...HEADERS), headerText), { maxLength: 2 })
}

const PATHS = [
  ['GET', '/v1/models/'],
  ['GET', '/openai/v1/models/'],
  ['GET', '/anthropic/v1/models/'],
  ['GET', '/gemini/v1beta/models/'],
  ['POST', '/v1/requests/'],
  ['POST', '/gemini/v1beta/models/'],
  ['POST', '/bedrock/model/'],
] as const
const ENDS = ['', '/cancel', ':generateContent', ':countTokens', '/converse', '/converse-stream']

/** A request of a route that has the name of a model or an id in its path. */
export function anyPathRequest(): fc.Arbitrary<AnyRequest> {
  const text = anyText.map(each => toUrlText(each.slice(0, 400)))
  const query = fc.tuple(fc.constantFrom('key', 'alt', 'limit', 'after_id', 'pageToken', 'a'), text)
  return fc
    .tuple(
      fc.constantFrom(...PATHS),
      text,
      fc.constantFrom(...ENDS),
      fc.array(query, { maxLength: 2 }),
      headersOf(),
    )
    .map(([[method, before], name, end, queries, headers]) => {
      const asked = queries.map(pair => pair.join('=')).join('&')
      const body = method === 'GET' ? '' : '{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}'
      const path = `${before}${name}${end}${asked === '' ? '' : `?${asked}`}`
      return { method, path, headers: [JSON_TYPE, ...headers], body, isMetered: false }
    })
}
