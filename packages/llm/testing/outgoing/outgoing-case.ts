import type { Json, JsonObject } from '../../json/json-value.ts'
import type { FieldRules } from '../../upstream/outgoing-rules.ts'

/** What may leave in a format, and what may not: one smallest body, and fields to add to it. */
export interface Case {
  readonly rules: FieldRules
  /** Everything in it is known to be harmless. */
  readonly body: JsonObject
  /** Fields that a key may send and an end user may not, by the path that is refused. */
  readonly ofKeys: readonly (readonly [path: string, fields: JsonObject])[]
  /** What reaches the provider's store: no end user may, whatever the environment allows. */
  readonly stored: readonly (readonly [path: string, fields: JsonObject])[]
  /** Fields that no caller may send: they change the price, the authorization or what the gateway relies on. */
  readonly refused: readonly (readonly [path: string, fields: JsonObject])[]
}

export const SCHEMA = { type: 'object', properties: { model: { type: 'string' }, n: { type: 'number' } } }
export const FUNCTION = { name: 'f', description: 'd', parameters: SCHEMA, strict: true }
export const CHAT_TOOL = { type: 'function', function: FUNCTION }
export const MARK = { type: 'ephemeral', ttl: '1h' }
export const URL = 'https://a.example/x.png'

/** Addresses that lead to a private host, to a file of the provider's, or to one or the other, as parsers read them. */
export const ADDRESSES: readonly string[] = [
  ...[
    'http://10.0.0.5:6379/',
    'http://a.example/x.png',
    'https://169.254.169.254/a.png',
    'https://127.1/a.png',
  ],
  ...[
    'https://[::ffff:a9fe:a9fe]/',
    'https://[2606:4700::1111]/',
    'https://010.8.8.8/',
    'https://2130706433/',
  ],
  ...[
    'https://１０.0.0.5/',
    'https://10.0.0.5./',
    'https://localhost/',
    'https://redis/',
    'https://a.internal./',
  ],
  ...[
    'file:///etc/passwd',
    'ms://file-id',
    'gs://bucket/x',
    's3://bucket/x',
    '//10.0.0.5/',
    '/etc/passwd.png',
  ],
  ...['https://user:secret@a.example/', 'https://a.example\\@10.0.0.5/', 'https://a.example#@10.0.0.5/'],
  ...['https://a.example?@10.0.0.5/', 'https:///10.0.0.5/', ' https://10.0.0.5/', 'https:10.0.0.5'],
  ...[
    'https://10%2e0.0.5/',
    'https://a.exa\tmple/',
    'ht\ntp://10.0.0.5/',
    `https://a.example/${'a'.repeat(8192)}`,
  ],
]

export const user = (...content: Json[]): JsonObject => ({ messages: [{ role: 'user', content }] })

/** Refused in every format at the top of the body. */
export const EVERYWHERE: readonly (readonly [string, JsonObject])[] = [
  ...[
    'models',
    'route',
    'fallback',
    'plugins',
    'preset',
    'best_of',
    'bestOf',
    'web_search_options',
    'search_parameters',
    'mcp_servers',
    'container',
    'thread',
    'billing_policy',
    'prediction',
    'audio',
    'Model',
    'extra_body.model',
  ].map((name): [string, JsonObject] => [name, { [name]: 'x' }]),
  ['extra_body.a[0].model', { extra_body: { a: [{ model: 'y' }] } }],
  ['novelty[0].model', { novelty: ['{"model":"y"}'] }],
  ['novelty[0][0].model', { novelty: [['{"model":"y"}']] }],
  ['provider.order', { provider: { order: ['x'] } }],
  ['provider.ignore', { provider: { max_price: { prompt: 1 }, allow_fallbacks: false, ignore: ['x'] } }],
  ['provider.quantizations', { provider: { zdr: true, data_collection: 'deny', quantizations: ['fp32'] } }],
  ['provider.preferred_min_throughput', { provider: { preferred_min_throughput: 9 } }],
  ...[
    ...[
      'headers',
      'tags',
      'proxy',
      'project',
      'organization',
      'litellm_credential_name',
      'additional_drop_params',
    ],
    ...['custom_logit_processor', 'nbest', 'variants', 'max_length', 'output_token_limit', 'workflow_id'],
    ...['vl_high_resolution_images', 'max_pixels', 'min_pixels', 'total_pixels'],
  ].map((name): [string, JsonObject] => [name, { [name]: 'x' }]),
  ['novelty.text.n', { novelty: { text: { n: 5 } } }],
  ['novelty.output_config.model', { novelty: { output_config: { model: 'b' } } }],
  ['novelty.reasoning.mode', { novelty: { reasoning: { mode: 'pro' } } }],
  ['novelty.reasoning.model', { novelty: { reasoning: { model: 'other' } } }],
  ['novelty.reasoning.api_base', { novelty: { reasoning: { max_tokens: 1, api_base: 'https://x' } } }],
  ['novelty.reasoning.mode', { novelty: { reasoning: '{"mode":"pro"}' } }],
  ['modalities', { modalities: ['text', 'audio'] }],
]
