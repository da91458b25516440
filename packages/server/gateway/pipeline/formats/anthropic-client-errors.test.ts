import Anthropic from '@anthropic-ai/sdk'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  json,
  openScriptedUpstream,
  type ScriptedUpstream,
} from '../../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../../testing/harness/app.ts'

let app: TestApp
let upstream: ScriptedUpstream
let client: Anthropic

beforeAll(async () => {
  app = await openTestApp()
  upstream = await openScriptedUpstream()
  await app.addCredential('anthropic', { api_key: 'sk-ant-of-the-tenant', base_url: upstream.baseUrl })
  client = new Anthropic({ baseURL: `${app.gatewayUrl}/anthropic`, apiKey: app.secretKey, maxRetries: 0 })
})

afterAll(async () => {
  await upstream.close()
  await app.close()
})

const max_tokens = 100
const messages = [{ role: 'user' as const, content: 'What time is it?' }]
const claude = 'claude-sonnet-4-6'

describe('the official client of the Anthropic format', () => {
  test("lists models in this format's shape", async () => {
    const ids: string[] = []
    for await (const each of client.models.list()) {
      ids.push(each.id)
      expect(each).toMatchObject({ type: 'model', created_at: expect.any(String) })
    }
    expect(ids).toContain(`anthropic/${claude}`)
    expect((await client.models.retrieve(claude)).id).toBe(`anthropic/${claude}`)
  })

  test("raises errors as the client's own classes, with the gateway's code", async () => {
    const stranger = new Anthropic({ baseURL: `${app.gatewayUrl}/anthropic`, apiKey: 'no', maxRetries: 0 })
    const fail = (fields: object) =>
      client.messages.create({ model: claude, max_tokens, messages, ...fields }).catch(error => error)
    upstream.script(
      json(400, {
        type: 'error',
        error: { type: 'invalid_request_error', message: 'prompt is too long: 9 tokens > 8 maximum' },
      }),
    )
    const overflow = await fail({})
    expect(overflow).toBeInstanceOf(Anthropic.BadRequestError)
    expect(overflow.error).toMatchObject({
      type: 'error',
      error: {
        type: 'invalid_request_error',
        code: 'context_length_exceeded',
        message: expect.stringMatching(/^prompt is too long/),
      },
      request_id: overflow.requestID,
    })
    // The provider knows what it has: an unknown name goes to it.
    const message = 'model: claude-unheard-of'
    upstream.script(json(404, { type: 'error', error: { type: 'not_found_error', message } }))
    const unknown = await fail({ model: 'claude-unheard-of' })
    expect(unknown).toBeInstanceOf(Anthropic.NotFoundError)
    expect(unknown.error.error.code).toBe('model_not_found')
    expect(await stranger.models.list().catch(error => error)).toBeInstanceOf(Anthropic.AuthenticationError)
    upstream.script(json(529, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }))
    expect(await fail({})).toMatchObject({
      status: 503,
      error: { error: { type: 'overloaded_error', code: 'provider_overloaded' } },
    })
    upstream.script(json(401, { type: 'error', error: { type: 'authentication_error', message: 'no' } }))
    expect(await fail({})).toMatchObject({ status: 502, error: { error: { type: 'api_error' } } })
  })
})
