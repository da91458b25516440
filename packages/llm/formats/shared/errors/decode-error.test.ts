import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Json } from '../../../json/json-value.ts'
import type { UpstreamErrorKind } from '../../../upstream/upstream-error.ts'
import { decodeError } from './decode-error.ts'
import { parseDuration } from './retry-after.ts'

const kindOf = (status: number, body: Json | string) =>
  decodeError(status, {}, typeof body === 'string' ? body : JSON.stringify(body)).kind

test('only the beginning of a code tells the cause', () => {
  const codeWith = (length: number) => `${'x'.repeat(length)}insufficient_quota`
  const kinds = [900, 1_000].map(length => kindOf(400, { error: { code: codeWith(length), message: 'm' } }))
  expect(kinds).toEqual(['quota', 'bad_request'])
})

describe('the cause, not the status', () => {
  test.each<[UpstreamErrorKind, number, Json | string]>([
    ['rate_limited', 429, ''],
    ['model_not_found', 404, { error: { message: 'grok-2 was removed on 2026-01-01. Use grok-4.' } }],
    ['model_not_found', 404, { error: { message: 'The model `x` has been decommissioned.' } }],
    ['model_not_found', 410, { error: { message: 'This model is no longer available.' } }],
    [
      'rate_limited',
      413,
      {
        error: {
          message: 'Request too large for model `x` on tokens per minute (TPM): Limit 6000',
          code: 'rate_limit_exceeded',
        },
      },
    ],
    ['rate_limited', 429, { error: { message: 'You have been rate limited.', type: 'credit_limit' } }],
    [
      'quota',
      429,
      {
        error: {
          message: 'You exceeded your current quota',
          code: 'insufficient_quota',
          type: 'insufficient_quota',
        },
      },
    ],
    ['quota', 402, ''],
    [
      'quota',
      400,
      { type: 'error', error: { message: 'Your credit balance is too low to access the API.' } },
    ],
    ['auth', 401, '<html>no</html>'],
    ['auth', 403, { error: { message: 'forbidden' } }],
    [
      'auth',
      400,
      { code: 'Client specified an invalid argument', error: 'Incorrect API key provided: xa***.' },
    ],
    ['auth', 401, { detail: 'Unauthorized' }],
    ['context_length', 400, { error: { message: 'x', code: 'context_length_exceeded' } }],
    [
      'context_length',
      400,
      {
        object: 'error',
        message: 'Prompt contains 9 tokens and exceeds the model context window',
        type: 'invalid_request_error',
        code: 3051,
      },
    ],
    [
      'context_length',
      422,
      {
        error: {
          message: "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens",
        },
      },
    ],
    ['context_length', 400, { error: { message: 'too long', type: 'too_many_prompt_tokens', code: 400 } }],
    ['content_filter', 400, { error: { code: 'content_filter', message: 'filtered' } }],
    [
      'content_filter',
      403,
      {
        error: {
          code: 403,
          message: 'openai/gpt-4o requires moderation on Azure. Your input was flagged for "x"',
        },
      },
    ],
    [
      'model_not_found',
      404,
      {
        error: {
          message: 'The model `x` does not exist or you do not have access to it.',
          code: 'model_not_found',
        },
      },
    ],
    ['model_not_found', 400, { error: { message: 'Model Not Exist', code: 'invalid_request_error' } }],
    [
      'model_not_found',
      400,
      { object: 'error', message: 'Invalid model: mistral-x', type: 'invalid_model', code: '1500' },
    ],
    [
      'model_not_found',
      403,
      { error: { message: 'Project `p` does not have access to model `gpt-x`', code: 'model_not_found' } },
    ],
    ['bad_request', 404, '<html><body>404 page not found</body></html>'],
    [
      'bad_request',
      400,
      { error: { message: "Unsupported parameter: 'max_tokens'", code: 'unsupported_parameter' } },
    ],
    [
      'bad_request',
      422,
      { detail: [{ loc: ['body', 'stream_options'], msg: 'Extra inputs are not permitted' }] },
    ],
    [
      'bad_request',
      400,
      { error: { message: 'Your text says "the server is overloaded" and that is not JSON' } },
    ],
    ['bad_request', 413, ''],
    ['overloaded', 529, ''],
    ['overloaded', 503, { object: 'error', message: 'Service tier capacity exceeded for this model.' }],
    ['overloaded', 500, { type: 'error', error: { type: 'api_error', message: 'Overloaded' } }],
    ['overloaded', 503, { error: 'server busy, please try again.  maximum pending requests exceeded' }],
    ['unavailable', 503, 'upstream connect error'],
    ['unavailable', 500, { error: { message: 'The server had an error', type: 'server_error' } }],
    [
      'unavailable',
      400,
      { error: { message: 'Failed to call a function.', code: 'tool_use_failed', failed_generation: '' } },
    ],
    ['timeout', 408, ''],
    // An answer of 500 or above is never the caller's fault and no refused credential, whatever it says.
    ['unavailable', 500, { error: { code: 'invalid_api_key', message: 'x', type: 'authentication_error' } }],
    ['unavailable', 502, { error: { code: 'content_filter', message: 'x' } }],
    ['unavailable', 500, { error: { message: "This model's maximum context length is 8192 tokens." } }],
    ['unavailable', 500, { error: { code: 'context_length_exceeded', message: 'x' } }],
    ['unavailable', 503, { error: { code: 'model_not_found', message: 'x' } }],
    ['unavailable', 200, { error: { code: 500, type: 'authentication_error', message: 'x' } }],
    ['quota', 503, { error: { code: 'insufficient_quota', message: 'x' } }],
    ['overloaded', 503, { error: { code: 'engine_overloaded', message: 'x' } }],
    ['rate_limited', 503, { error: { code: 'rate_limit_exceeded', message: 'x' } }],
    ['rate_limited', 400, { error: { code: 'rate_limit_exceeded', message: 'x' } }],
    ['rate_limited', 403, { error: { message: 'Rate limit exceeded' } }],
    // A 200 that carries an error tells the status itself, if at all.
    ['rate_limited', 200, { error: { message: 'x', code: 429 } }],
    ['unavailable', 200, { error: { message: 'x' } }],
    ['unavailable', 200, ''],
    ['bad_request', 400, [{ error: { code: 400, message: 'in an array' } }]],
    ['bad_request', 400, [[]]],
    ['bad_request', 400, 'null'],
  ])('%s: %i %j', (kind, status, body) => {
    expect(kindOf(status, body)).toBe(kind)
  })

  test('the words of the provider are kept for the log, but not without end', () => {
    expect(decodeError(400, {}, '{"error":{"message":"no","code":"x","type":"y"}}').detail).toBe('x: y: no')
    expect(decodeError(500, {}, 'a'.repeat(100_000)).detail.length).toBe(500)
  })

  test("the provider's own word on retrying is passed on", () => {
    expect(decodeError(500, { 'x-should-retry': 'false' }, '').shouldRetry).toBe(false)
    expect(decodeError(500, { 'x-should-retry': 'true' }, '').shouldRetry).toBe(true)
    expect(decodeError(500, {}, '')).not.toHaveProperty('shouldRetry')
  })
})

describe('how long to wait', () => {
  const wait = (headers: Record<string, string>, message = '') =>
    decodeError(429, headers, JSON.stringify({ error: { message } })).retryAfterMs

  test.each<[number | undefined, Record<string, string>, string?]>([
    [1500, { 'retry-after-ms': '1500', 'retry-after': '9' }],
    [20_000, { 'retry-after': '20' }],
    [1500, { 'retry-after': '1.5' }],
    [30_000, { 'retry-after': 'Sat, 21 Nov 2026 10:00:30 GMT', date: 'Sat, 21 Nov 2026 10:00:00 GMT' }],
    [0, { 'retry-after': 'Sat, 21 Nov 2026 09:00:00 GMT', date: 'Sat, 21 Nov 2026 10:00:00 GMT' }],
    [undefined, { 'retry-after': 'soon' }],
    [undefined, { 'retry-after': '-5' }],
    [360_000, { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '6m0s' }],
    [120, { 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '120ms' }],
    [7000, { 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '7' }],
    [undefined, { 'x-ratelimit-remaining-tokens': '5', 'x-ratelimit-reset-tokens': '6m0s' }],
    [1574, {}, 'Please try again in 1.574s. Visit https://x'],
    [578_000, {}, 'Please try again in 9m38s.'],
    [20_000, {}, 'Please retry after 20 seconds.'],
    [86_400_000, { 'retry-after': '99999999' }],
    [undefined, {}, 'Please try again.'],
  ])('%s: %j %s', (expected, headers, message) => {
    expect(wait(headers, message)).toBe(expected)
  })

  test('a delay in the details of the body', () => {
    const body = { error: { code: 429, details: [{ '@type': 'x' }, { retryDelay: '34.4s' }] } }
    expect(decodeError(429, {}, JSON.stringify(body)).retryAfterMs).toBe(34_400)
  })

  test.each([
    ['', undefined],
    ['5', undefined],
    ['1h2m3.5s', 3_723_500],
    ['s', undefined],
    ['1d', undefined],
  ])('duration %j is %s', (text, expected) => {
    expect(parseDuration(text)).toBe(expected)
  })
})

const WIRE = new URL('../../../../../../shared/wire/', import.meta.url)
const exists = existsSync(WIRE)
if (!exists) console.log('skipped: the error recordings of ../shared/wire are not there (60 bodies)')

/** The quoted bodies' classes that have one clear answer. */
const CLASSES: Readonly<Record<string, UpstreamErrorKind>> = {
  rate_limited: 'rate_limited',
  request_too_large_for_tpm: 'rate_limited',
  overloaded: 'overloaded',
  context_length: 'context_length',
  max_tokens_too_large: 'bad_request',
  unsupported_field: 'bad_request',
  content_filter: 'content_filter',
  insufficient_quota: 'quota',
}

/** undefined: neither the status nor the words leave only one answer. */
function expectedKind(status: number, file: string, body: string): UpstreamErrorKind | undefined {
  if (status === 401) return 'auth'
  if (status === 429) return body.includes('"insufficient_quota"') ? 'quota' : 'rate_limited'
  if (file.includes('real-error-scenarios')) return 'context_length'
  if (body.includes('does not exist')) return 'model_not_found'
  return status === 400 ? 'bad_request' : undefined
}

describe.skipIf(!exists)('recorded errors', () => {
  test('every quoted body of a clear class', () => {
    const lines = readFileSync(new URL('errors-quoted.jsonl', WIRE), 'utf8').trim().split('\n')
    let checked = 0
    for (const line of lines) {
      const { status, headers, body, class: name } = JSON.parse(line)
      const expected = CLASSES[name]
      if (expected === undefined) continue
      const text = typeof body === 'string' ? body : JSON.stringify(body)
      expect({ line, kind: decodeError(status, headers, text).kind }).toEqual({ line, kind: expected })
      checked++
    }
    expect(checked).toBeGreaterThan(25)
  })

  test('every recorded refusal: by its status where that is clear, by its words where they are', () => {
    let checked = 0
    for (const folder of [
      'openai',
      'groq',
      'deepseek',
      'openrouter',
      'ollama',
      'azure',
      'perplexity',
      'anthropic',
      'gemini',
      'cohere',
    ]) {
      for (const file of readdirSync(new URL(folder, WIRE))) {
        const { response } = JSON.parse(readFileSync(new URL(`${folder}/${file}`, WIRE), 'utf8'))
        if (!(response.status >= 400) || typeof response.body !== 'string') continue
        const { kind } = decodeError(response.status, response.headers ?? {}, response.body)
        checked++
        expect({ file, kind }).toEqual({
          file,
          kind: expectedKind(response.status, file, response.body) ?? kind,
        })
      }
    }
    expect(checked).toBeGreaterThan(40)
  })
})
