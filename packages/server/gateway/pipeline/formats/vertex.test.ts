import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  openScriptedTokenEndpoint,
  type ScriptedTokenEndpoint,
} from '../../../testing/fakes/scripted-token-endpoint.ts'
import {
  json,
  openScriptedUpstream,
  type ScriptedUpstream,
  stream,
} from '../../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../../testing/harness/app.ts'

let app: TestApp
let upstream: ScriptedUpstream
let endpoint: ScriptedTokenEndpoint
let credentialId: string
const log: string[] = []

beforeAll(async () => {
  app = await openTestApp({ LOG_LEVEL: 'trace' }, undefined, { write: line => log.push(line) })
  upstream = await openScriptedUpstream({ scriptsLists: true })
  endpoint = await openScriptedTokenEndpoint()
  credentialId = await app.addCredential('vertex', {
    api_key: endpoint.serviceAccount,
    base_url: upstream.baseUrl,
    options: { project: 'a-project', location: 'global' },
  })
})
beforeEach(() => {
  endpoint.rejection = undefined
})
afterAll(async () => {
  await Promise.all([upstream.close(), endpoint.close()])
  await app.close()
})

const model = 'vertex/gemini-2.5-flash'
const messages = [{ role: 'user', content: 'What time is it?' }]
const body = {
  candidates: [{ content: { role: 'model', parts: [{ text: 'Noon.' }] }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 2, totalTokenCount: 7 },
}
const good = json(200, body)
const expired = json(401, [
  {
    error: {
      code: 401,
      status: 'UNAUTHENTICATED',
      message: 'Request had invalid authentication credentials.',
    },
  },
])
const tokens = (): unknown[] => upstream.requests.map(({ headers }) => headers.authorization)

describe('a service account', () => {
  test('is exchanged once for all calls, and only its token is sent', async () => {
    upstream.script(good)
    const answers = await Promise.all([1, 2, 3].map(() => app.call('/v1/chat', { model, messages })))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    // The first token proved the key when the credential was created.
    expect(tokens()).toEqual(Array(3).fill('Bearer token-2'))
    expect(upstream.requests[0]?.path).toBe('/v1/publishers/google/models/gemini-2.5-flash:generateContent')
    expect(JSON.stringify(upstream.requests)).not.toContain('PRIVATE KEY')
  })

  test('gets a new token within the same attempt if its token is rejected, also for streams', async () => {
    upstream.script(expired, stream(`data: ${JSON.stringify(body)}\n\n`))
    const response = await app.call('/v1/chat', { model, messages, stream: true })
    expect(response.headers.get('x-rideau-attempts')).toBe('1')
    expect(await response.text()).toContain('Noon.')
    expect(tokens().slice(-2)).toEqual(['Bearer token-2', 'Bearer token-3'])
  })

  test('is not tried a third time if its new token is rejected too', async () => {
    upstream.script(expired)
    const before = upstream.requests.length
    const response = await app.call('/v1/chat', { model, messages })
    expect(((await response.json()) as any).error.code).toBe('provider_auth_failed')
    expect(upstream.requests.length - before).toBe(2)
  })

  test('leaves neither its key nor a token in the log', () => {
    expect(log.length).toBeGreaterThan(0)
    expect(log.filter(line => /PRIVATE KEY|token-\d/.test(line))).toEqual([])
  })
})

describe('an Anthropic model on Vertex', () => {
  const claude = 'vertex/claude-sonnet-4-5@20250929'
  const answer = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    content: [{ type: 'text', text: 'Noon.' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 5, output_tokens: 2 },
  }
  const place = '/v1/publishers/anthropic/models/claude-sonnet-4-5%4020250929'

  test('is called in its own format, with the model in the path and the version in the body', async () => {
    upstream.script(json(200, answer))
    const response = await app.call('/v1/chat', { model: claude, messages, max_output_tokens: 9 })
    expect(((await response.json()) as any).choices[0].message.content).toBe('Noon.')
    const seen = upstream.requests.at(-1)
    expect(seen?.path).toBe(`${place}:rawPredict`)
    expect(seen?.headers.authorization).toMatch(/^Bearer token-/)
    expect(seen?.headers['anthropic-version']).toBeUndefined()
    expect(seen?.body).toEqual({ anthropic_version: 'vertex-2023-10-16', max_tokens: 9, messages })
  })

  test('gets the body of a caller of that format unchanged, also streamed', async () => {
    upstream.script(
      stream(
        `event: message_start\ndata: ${JSON.stringify({ type: 'message_start', message: { ...answer, content: [] } })}\n\n`,
        'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n',
        'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Noon."}}\n\n',
        'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n',
        'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}\n\n',
        'event: message_stop\ndata: {"type":"message_stop"}\n\n',
      ),
    )
    const response = await app.call('/anthropic/v1/messages', {
      model: claude,
      messages,
      max_tokens: 9,
      stream: true,
      thinking: { type: 'disabled' },
    })
    expect(await response.text()).toContain('Noon.')
    const seen = upstream.requests.at(-1)
    expect(seen?.path).toBe(`${place}:streamRawPredict`)
    expect(seen?.body).toEqual({
      anthropic_version: 'vertex-2023-10-16',
      max_tokens: 9,
      messages,
      stream: true,
      thinking: { type: 'disabled' },
    })
  })

  test('has its tokens estimated, since Vertex has no counting route for it', async () => {
    const before = upstream.requests.length
    const response = await app.call('/anthropic/v1/messages/count_tokens', { model: claude, messages })
    expect(((await response.json()) as any).input_tokens).toBeGreaterThan(0)
    expect(upstream.requests.length).toBe(before)
  })
})

describe('validation of the credential', () => {
  const validate = async (): Promise<{ validation_error: string | null }> =>
    (await app.manage('POST', `/v1/provider-credentials/${credentialId}/validate`)).body

  test('accepts a key that is exchanged for a token, and calls no other route', async () => {
    const before = upstream.requests.length
    expect((await validate()).validation_error).toBeNull()
    expect(upstream.requests.length).toBe(before)
  })

  test("reports a deleted key to the owner, without the endpoint's message", async () => {
    endpoint.rejection = { status: 400, body: { error: 'invalid_grant', error_description: 'secret words' } }
    const refused = (await validate()).validation_error
    expect(refused).toMatch(/./)
    expect(refused).not.toContain('secret words')
    endpoint.rejection = { status: 503, body: {} }
    expect((await validate()).validation_error).not.toBe(refused)
  })
})

describe('without a base URL', () => {
  test.each([
    ['us-central1', 'https://us-central1-aiplatform.googleapis.com/v1beta1/projects/p/locations/us-central1'],
    ['global', 'https://aiplatform.googleapis.com/v1beta1/projects/p/locations/global'],
  ])('calls %s at its own host', async (location, expected) => {
    const { toBaseUrl } = await import('@rideau/llm/upstream/base-address')
    const { findProvider } = await import('@rideau/llm/providers/index')
    const provider = findProvider('vertex')
    if (provider === undefined) throw new Error('no vertex')
    expect(toBaseUrl(provider, null, { project: 'p', location })).toBe(expected)
  })

  test('refuses to store a location that would lead to another host', async () => {
    const made = await app.manage('POST', `/v1/environments/${app.developmentId}/provider-credentials`, {
      provider: 'vertex',
      name: 'elsewhere',
      api_key: endpoint.serviceAccount,
      options: { project: 'p', location: 'evil.example/' },
    })
    expect(made.status).toBe(400)
    expect(made.body.error.param).toBe('options.location')
  })
})

// The last test: its rejection is cached.
describe('a service account that was deleted at Google', () => {
  test('is reported to its owner, and not to the caller', async () => {
    upstream.script(expired, good)
    endpoint.rejection = {
      status: 400,
      body: { error: 'invalid_grant', error_description: 'account not found' },
    }
    const response = await app.call('/v1/chat', { model, messages })
    const { error } = (await response.json()) as any
    expect(error.code).toBe('provider_auth_failed')
    expect(JSON.stringify(error)).not.toContain('account not found')
    expect(log.some(line => line.includes('invalid_grant: account not found'))).toBe(true)
    await expect
      .poll(
        async () =>
          (await app.manage('GET', `/v1/provider-credentials/${credentialId}`)).body.validation_error,
      )
      .not.toBeNull()
  })
})
