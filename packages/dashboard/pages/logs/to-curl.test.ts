import { describe, expect, test } from 'vitest'
import type { LogDetail } from './log-calls.ts'
import { toCurl } from './to-curl.ts'

const gateway = { gatewayUrl: 'https://ai.example.com', prefixes: { openai: '/oa', anthropic: '/anthropic' } }
const log = (surface: string, endpoint: string, body: string | null) =>
  toCurl({ surface, endpoint, request_body: body } as LogDetail, gateway)

describe('a captured request as a command', () => {
  test('quotes the body for the shell and holds no key', () => {
    expect(log('native', 'chat', `{"messages":[{"role":"user","content":"it's"}]}`)).toBe(
      `curl https://ai.example.com/v1/chat \\
  -H "authorization: Bearer $RIDEAU_KEY" \\
  -H 'content-type: application/json' \\
  -d '{"messages":[{"role":"user","content":"it'\\''s"}]}'`,
    )
  })

  test.each([
    ['openai', 'chat', '{"messages":[]}', '/oa/v1/chat/completions'],
    ['openai', 'chat', '{"input":"x"}', '/oa/v1/responses'],
    ['openai', 'embeddings', '{"input":"x"}', '/oa/v1/embeddings'],
    ['anthropic', 'chat', '{"messages":[]}', '/anthropic/v1/messages'],
    ['native', 'images', '{"prompt":"x"}', '/v1/images'],
  ])('%s %s %s goes to %s', (surface, endpoint, body, route) => {
    expect(log(surface, endpoint, body)).toContain(`curl https://ai.example.com${route} `)
  })

  test.each([
    ['no body', 'native', null],
    ['a cut body', 'native', '{"messages":[{"role":"user","content":"Hel…[cut: 90000 characters]'],
    ['a model in the address', 'gemini', '{"contents":[]}'],
  ])('undefined: %s', (_, surface, body) => {
    expect(log(surface, 'chat', body)).toBeUndefined()
  })
})
