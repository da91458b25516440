import { FormatRegistry } from '@rideau/llm/formats/format-registry'
import { FORMATS } from '@rideau/llm/formats/index'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseConfig } from '../../../app/settings/settings.ts'
import { MESSAGE_START, message, textBlock } from '../../../testing/fakes/scripted-anthropic.ts'
import {
  cutStream,
  openScriptedUpstream,
  type ScriptedUpstream,
} from '../../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../../testing/harness/app.ts'
import { getMount } from '../../request/prefixes.ts'

let app: TestApp
let upstream: ScriptedUpstream

beforeAll(async () => {
  app = await openTestApp({ RIDEAU_ANTHROPIC_PREFIX: '/claude' })
  upstream = await openScriptedUpstream()
  await app.addCredential('anthropic', { api_key: 'sk-ant', base_url: upstream.baseUrl })
  upstream.script(message([{ type: 'text', text: 'Noon.' }]))
})

afterAll(async () => {
  await upstream.close()
  await app.close()
})

const body = {
  model: 'claude-sonnet-4-6',
  max_tokens: 9,
  messages: [{ role: 'user', content: 'hi' }],
}
const post = (fields: object | string, route = '/claude/v1/messages', options = {}) =>
  app.call(route, typeof fields === 'string' ? fields : { ...body, ...fields }, options)

async function expectFault(answer: Response, status: number, type: string, code: string): Promise<void> {
  expect(answer.status).toBe(status)
  const id = answer.headers.get('x-request-id')
  expect(answer.headers.get('request-id')).toBe(id)
  const body: any = await answer.json()
  const details = { error_code: 'thread_unsupported_request', unsupported: ['thread'] }
  expect(body).toEqual({
    type: 'error',
    error: {
      type,
      code,
      message: expect.any(String),
      param: ['invalid_request', 'unsupported_media_type'].includes(code) ? expect.any(String) : null,
      // At these clients go on without a thread.
      ...(body.error.param === 'thread' ? { details } : {}),
      doc_url: expect.stringContaining(`/docs/errors#${code}`),
    },
    request_id: id,
  })
}

describe("every failure under the prefix has Anthropic's shape", () => {
  test.each<[string, () => Promise<Response>, number, string, string]>([
    ['no route', () => post({}, '/claude/v1/nothing'), 404, 'not_found_error', 'route_not_found'],
    [
      'a wrong method',
      () => fetch(`${app.gatewayUrl}/claude/v1/messages`),
      404,
      'not_found_error',
      'route_not_found',
    ],
    [
      'no credential',
      () => fetch(`${app.gatewayUrl}/claude/v1/models`),
      401,
      'authentication_error',
      'unauthenticated',
    ],
    [
      'a wrong one',
      () => fetch(`${app.gatewayUrl}/claude/v1/models`, { headers: { 'x-api-key': 'sk-ant-x' } }),
      401,
      'authentication_error',
      'invalid_key',
    ],
    ['a body that is not JSON', () => post('{'), 400, 'invalid_request_error', 'request_validation_failed'],
    [
      'another type',
      () => post({}, undefined, { headers: { 'content-type': 'text/plain' } }),
      415,
      'invalid_request_error',
      'unsupported_media_type',
    ],
    ['no cap', () => post({ max_tokens: null }), 400, 'invalid_request_error', 'invalid_request'],
    ['no message', () => post({ messages: [] }), 400, 'invalid_request_error', 'invalid_request'],
    [
      'a broken block',
      () => post({ messages: [{ role: 'user', content: [{ type: 'text' }] }] }),
      400,
      'invalid_request_error',
      'invalid_request',
    ],
    [
      'a broken count',
      () => post({ messages: 1 }, '/claude/v1/messages/count_tokens'),
      400,
      'invalid_request_error',
      'invalid_request',
    ],
  ])('%s', async (_, call, status, type, code) => {
    await expectFault(await call(), status, type, code)
  })

  test('leaves failures outside the prefix in their own shape', async () => {
    const outside = await post({}, '/v1/nothing')
    expect(await outside.json()).not.toHaveProperty('type')
    expect(outside.headers.has('request-id')).toBe(false)
    expect((await post({}, '/anthropic/v1/messages')).status).toBe(404)
  })

  test('an x-api-key is not accepted on other paths', async () => {
    const answer = await fetch(`${app.gatewayUrl}/v1/models`, { headers: { 'x-api-key': app.secretKey } })
    expect(answer.status).toBe(401)
  })
})

describe('refuses parameters that callers may not set', () => {
  test.each([
    { models: ['x'] },
    { route: 'fallback' },
    { fallbacks: ['x'] },
    { mcp_servers: [{ type: 'url', url: 'https://x' }] },
    { container: 'container_1' },
    { thread: { type: 'create' } },
    { previous_message_id: 'msg_1' },
    { speed: 'fast' },
    { inference_geo: 'us' },
    { service_tier: 'priority' },
  ])('%j', async fields => {
    const before = upstream.requests.length
    await expectFault(await post(fields), 400, 'invalid_request_error', 'invalid_request')
    await expectFault(
      await post(fields, '/claude/v1/messages/count_tokens'),
      400,
      'invalid_request_error',
      'invalid_request',
    )
    expect(upstream.requests.length).toBe(before)
  })

  test.each([
    { type: 'code_execution_20260120', name: 'code_execution' },
    { type: 'advisor_20260301', name: 'advisor', model: 'claude-opus-5' },
  ])('leaves out a tool that the provider would run: %j', async tool => {
    upstream.script(message([{ type: 'text', text: 'Noon.' }]))
    const answer = await post({ tools: [tool] })
    expect([answer.status, answer.headers.get('x-rideau-dropped-params')]).toEqual([200, 'tools[0]'])
    expect(JSON.stringify(upstream.requests.at(-1)?.body)).not.toContain(tool.name)
  })

  test('a case variant of the model, which a lenient parser would accept', async () => {
    const answer = await post({ Model: 'claude-opus-5' })
    expect(await answer.json()).toMatchObject({
      error: { code: 'request_validation_failed', param: 'Model' },
    })
  })

  test('accepts values that change no price', async () => {
    const fields = {
      speed: 'standard',
      service_tier: 'auto',
      context_management: { edits: [] },
      tools: [{ type: 'bash_20250124', name: 'bash' }],
      novelty: 1.5,
    }
    expect((await post(fields)).status).toBe(200)
    expect(upstream.requests.at(-1)?.body).toMatchObject({ ...body, ...fields })
  })
})

test('accepts a Bearer token, also next to an x-api-key that is not a Rideau key', async () => {
  upstream.script(message([{ type: 'text', text: 'Noon.' }]))
  for (const [key, headers] of [
    [app.secretKey, {}],
    [app.secretKey, { 'x-api-key': 'sk-ant-foreign' }],
    ['foreign', { 'x-api-key': app.secretKey }],
  ] as const) {
    expect((await post({}, undefined, { key, headers })).status).toBe(200)
  }
})

test('bills a broken stream by the input that its start reported', async () => {
  upstream.script(cutStream(MESSAGE_START, ...textBlock(0, 'No', 'on').slice(0, 3)))
  const answer = await post({ stream: true })
  expect(await answer.text()).toContain('event: error')
  const log = await app.findLog(answer.headers.get('request-id') ?? '')
  expect(log).toMatchObject({ status: 502, error_code: 'stream_interrupted' })
  expect(log.cost_usd).toBeCloseTo((12 * 3 + 8 * 0.3 + 3.75 + 3 * 6 + 2 * 15) / 1e6, 9)
})

test.each(['COMPAT', 'ANTHROPIC', 'GEMINI', 'OLLAMA', 'COHERE', 'BEDROCK'])(
  'refuses the prefix of %s if it equals another, is the root or contains native routes',
  name => {
    const setting = `RIDEAU_${name}_PREFIX`
    const other = name === 'OLLAMA' ? '/cohere' : '/ollama'
    for (const value of [other, '/', '/v1', '/v1/models', '/healthz', '/.well-known/x', 'x', '/x/']) {
      expect(() => parseConfig({ [setting]: value })).toThrow(/RIDEAU_\w+_PREFIX: must/)
    }
    expect(() => parseConfig({ [setting]: '/v1x' })).not.toThrow()
  },
)

test('assigns a path to the longest of nested prefixes', () => {
  const { prefixes } = parseConfig({ RIDEAU_COMPAT_PREFIX: '/llm', RIDEAU_ANTHROPIC_PREFIX: '/llm/a' })
  const mounts = [...new FormatRegistry(FORMATS).mounts.values()]
  const mountOf = (path: string): string => getMount(path, mounts, prefixes).name
  expect(mountOf('/llm/v1/none')).toBe('openai')
  expect(mountOf('/llm/a/v1/none')).toBe('anthropic')
  expect(mountOf('/llmx/v1/none')).toBe('native')
})

test('refuses equal prefixes and the root', () => {
  expect(() => parseConfig({ RIDEAU_ANTHROPIC_PREFIX: '/openai' })).toThrow('RIDEAU_ANTHROPIC_PREFIX')
  expect(() => parseConfig({ RIDEAU_ANTHROPIC_PREFIX: '/' })).toThrow('RIDEAU_ANTHROPIC_PREFIX')
  expect(() => parseConfig({ RIDEAU_COMPAT_PREFIX: '/' })).toThrow('RIDEAU_COMPAT_PREFIX')
})
