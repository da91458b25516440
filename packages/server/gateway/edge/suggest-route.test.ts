import { FormatRegistry } from '@rideau/llm/formats/format-registry'
import { FORMATS } from '@rideau/llm/formats/index'
import { describe, expect, test } from 'vitest'
import { prefixOf } from '../request/prefixes.ts'
import { listRoutes } from '../routes.ts'
import { openRouteSuggestions } from './suggest-route.ts'

const open = (prefixes: Record<string, string> = {}) => {
  const formats = new FormatRegistry(FORMATS)
  const mounted = [...formats.mounts.values()].map(mount => prefixOf(mount, prefixes))
  return openRouteSuggestions(listRoutes(formats, prefixes), mounted)
}
const suggest = open()

describe('a path without a route', () => {
  test.each([
    ['POST', '/v1/chat/completions', 'POST /openai/v1/chat/completions'],
    ['POST', '/chat/completions', 'POST /openai/v1/chat/completions'],
    ['POST', '/v1/responses', 'POST /openai/v1/responses'],
    ['POST', '/v1/images/generations', 'POST /openai/v1/images/generations'],
    ['POST', '/v1/messages', 'POST /anthropic/v1/messages'],
    ['POST', '/v1/messages/count_tokens', 'POST /anthropic/v1/messages/count_tokens'],
    ['POST', '/anthropic/messages', 'POST /anthropic/v1/messages'],
    ['POST', '/anthropic/v1/v1/messages', 'POST /anthropic/v1/messages'],
    ['POST', '/openai/chat/completions', 'POST /openai/v1/chat/completions'],
    ['POST', '/openai/v1/v1/chat/completions', 'POST /openai/v1/chat/completions'],
    ['POST', '/openai/v1/openai/v1/responses', 'POST /openai/v1/responses'],
    ['POST', '/openai/embeddings', 'POST /openai/v1/embeddings'],
    ['GET', '/openai/models', 'GET /openai/v1/models'],
    ['GET', '/models', 'GET /v1/models'],
    ['GET', '/anthropic/models', 'GET /anthropic/v1/models'],
    ['POST', '/v1/v1/chat', 'POST /v1/chat'],
    ['POST', '/chat', 'POST /v1/chat'],
    ['POST', '/api/chat', 'POST /ollama/api/chat'],
    ['POST', '/v2/chat', 'POST /cohere/v2/chat'],
    ['POST', '/v1beta/models/x:generateContent', 'POST /gemini/v1beta/models/{model}:generateContent'],
    ['POST', '/model/x/converse', 'POST /bedrock/model/{model}/converse'],
    ['GET', '/v1/chat', 'POST /v1/chat'],
    ['GET', '/v1/requests/x/cancel', 'POST /v1/requests/{request_id}/cancel'],
    ['POST', '/requests/x/cancel', 'POST /v1/requests/{request_id}/cancel'],
    ['GET', '/bedrock/model/x/converse', 'POST /bedrock/model/{model}/converse'],
    ['GET', '/openai/v1/chat/completions', 'POST /openai/v1/chat/completions'],
  ])('%s %s: %s', (method, path, expected) => expect(suggest(method, path)).toBe(expected))

  test.each([
    '/',
    '/v1',
    '/v1/',
    '/openai',
    '/openai/v1',
    '/nothing',
    '/v1/chat/completions/more',
    '//v1/chat',
    '/constructor',
    `/v1/${'v1/'.repeat(1_000)}chat`,
  ])('gets no suggestion if it is like none: %s', path => expect(suggest('POST', path)).toBeUndefined())

  test('names the wildcard of every route a model, but that of a cancel a request', () => {
    const routes = listRoutes(new FormatRegistry(FORMATS), {}).filter(({ path }) => /\*./.test(path))
    const named = routes.map(({ path }) => suggest('PUT', path.replace('*', 'x')))
    expect(named.filter(name => name?.includes('{model}') !== true)).toEqual([
      'POST /v1/requests/{request_id}/cancel',
    ])
  })

  test("follows the deployment's prefixes", () => {
    expect(open({ openai: '/compat' })('POST', '/v1/chat/completions')).toBe(
      'POST /compat/v1/chat/completions',
    )
  })
})
