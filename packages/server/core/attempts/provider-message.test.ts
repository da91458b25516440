import type { UpstreamError } from '@rideau/llm/upstream/upstream-error'
import { describe, expect, test } from 'vitest'
import { maySeeProviderMessage, toProviderMessage } from './provider-message.ts'

const show = (message: string, change: Partial<UpstreamError> = {}): string | undefined =>
  toProviderMessage({ kind: 'bad_request', status: 400, detail: 'd', message, ...change })

describe('the message of a provider', () => {
  test.each(['bad_request', 'context_length', 'content_filter', 'model_not_found'] as const)(
    'is shown where it refused the request: %s',
    kind => expect(show('Unsupported value.', { kind })).toBe('Unsupported value.'),
  )

  test.each([
    'auth',
    'quota',
    'rate_limited',
    'overloaded',
    'unavailable',
    'timeout',
    'interrupted',
  ] as const)('is not shown for another cause: %s', kind =>
    expect(show('Unsupported value.', { kind })).toBeUndefined(),
  )

  test.each([401, 403])('is not shown with the status %i, whatever the cause', status => {
    expect(show('The model is not available.', { kind: 'model_not_found', status })).toBeUndefined()
  })

  test.each([
    'Your API key is wrong: abc',
    'The api_key was not found',
    'Cannot authenticate the request',
    'This credential may not do that',
    'Unauthorized',
  ])('is not shown if it speaks of the credential: %s', text => expect(show(text)).toBeUndefined())

  test('is not shown if there is none', () => {
    expect(toProviderMessage({ kind: 'bad_request', detail: 'd' })).toBeUndefined()
    expect(show(' \n ')).toBeUndefined()
  })

  test.each([
    'sk-proj-abcdefgh12345678',
    'sk-ab***************wxyz',
    'rd_sk_dev_0123456789abcdefghijABCDEFGHIJ',
    'gsk_abcdef',
    'xai-0123456',
    'hf_AbCdEfGh',
    'AIzaSyA-1234567890abcdefghij',
    'AKIAIOSFODNN7EXAMPLE',
    'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ1In0.c2ln',
    'Bearer anything',
    'd41d8cd98f00b204e9800998ecf8427e',
    'Zx81'.repeat(10),
  ])('loses what looks like a key: %s', key => {
    expect(show(`The value ${key}, is wrong.`)).toMatch(/^The value \[key\],? is wrong\.$/)
  })

  test.each([
    "Unsupported value: 'temperature' does not support 0.7 with this model. Only the default (1) value is supported.",
    'messages.0.content.1.image.source.base64.data: Input tag "x" does not match',
    'The model claude-sonnet-4-5-20250929 or accounts/fireworks/models/Llama-v3p1-405b-instruct does not exist',
    'tools[0].function.name: a_tool_with_a_name_that_is_quite_long_indeed is too long',
    'jina-embeddings-v3 takes no dimensions',
  ])('keeps everything else: %s', text => expect(show(text)).toBe(text))

  test('is one line of at most 500 characters of well-formed text', () => {
    expect(show('a\r\nb\u0000c\u2028d')).toBe('a b c d')
    const cut = show(`${'x '.repeat(248)}sk-1234567890abcdef`)
    expect(cut?.length).toBeLessThanOrEqual(500)
    expect(cut).not.toContain('sk-')
    expect(show(`${'é '.repeat(249)}x😀`)).toHaveLength(500)
  })

  // A pattern that goes back at each character would not end within the test's time limit.
  test.each(['a', 'sk-', 'Aa1', '=', 'eyJ.', 'Bearer ', 'api '])('is short after 2 MB of "%s"', part => {
    expect(show(part.repeat(2_000_000 / part.length))?.length ?? 0).toBeLessThanOrEqual(500)
  })
})

test.each([
  ['a secret key', { kind: 'secret', keyId: 'k' }, true],
  ["a member's own token", { kind: 'client_token', keyId: null }, true],
  ['a client token', { kind: 'client_token', keyId: 'k' }, false],
  ['a publishable key', { kind: 'publishable', keyId: 'k' }, false],
] as const)('%s may see it: %s', (_, caller, may) => expect(maySeeProviderMessage(caller)).toBe(may))
