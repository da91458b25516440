import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  completion,
  openScriptedUpstream,
  type ScriptedUpstream,
} from '../../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../../testing/harness/app.ts'
import { findErrorCode } from '../../../testing/harness/error-code.ts'

let app: TestApp
/** A provider of another format and one of the same. */
let other: ScriptedUpstream
let same: ScriptedUpstream

beforeAll(async () => {
  app = await openTestApp()
  other = await openScriptedUpstream()
  same = await openScriptedUpstream()
  await app.addCredential('openai', { api_key: 'sk-of-the-tenant', base_url: other.baseUrl })
  await app.addCredential('gemini', { api_key: 'AIza-of-the-tenant', base_url: same.baseUrl })
})

afterAll(async () => {
  await other.close()
  await same.close()
  await app.close()
})

const OTHER = 'openai/gpt-4o'
const SAME = 'gemini/gemini-2.5-flash'
const BODY = { contents: [{ role: 'user', parts: [{ text: 'What time is it?' }] }] }
const post = (model: string, method: string, fields: object = {}): Promise<Response> =>
  app.call(`/gemini/v1beta/models/${model}:${method}`, { ...BODY, ...fields })

describe('refuses what callers may not set', () => {
  test.each<[object, string]>([
    [{ generationConfig: { candidateCount: 2 } }, 'generationConfig.candidateCount'],
    [{ generationConfig: { responseModalities: ['TEXT', 'IMAGE'] } }, 'generationConfig.responseModalities'],
    [{ generationConfig: { imageConfig: {} } }, 'generationConfig.imageConfig'],
    [{ generationConfig: { speechConfig: {} } }, 'generationConfig.speechConfig'],
    [{ generationConfig: { routingConfig: {} } }, 'generationConfig.routingConfig'],
    [{ generationConfig: { somethingNew: 1 } }, 'generationConfig.somethingNew'],
    [{ somethingNew: 1 }, 'somethingNew'],
    [{ contents: [{ parts: [], somethingNew: 1 }] }, 'contents[0].somethingNew'],
    [{ contents: [{ parts: [{ somethingNew: 1 }] }] }, 'contents[0].parts[0].somethingNew'],
    [
      { contents: [{ parts: [{ functionCall: { name: 'f', somethingNew: 1 } }] }] },
      'contents[0].parts[0].functionCall.somethingNew',
    ],
    [
      { tools: [{ functionDeclarations: [{ name: 'f', somethingNew: 1 }] }] },
      'tools[0].functionDeclarations[0].somethingNew',
    ],
    [
      { generationConfig: { thinkingConfig: { somethingNew: 1 } } },
      'generationConfig.thinkingConfig.somethingNew',
    ],
    [{ serviceTier: 'priority' }, 'serviceTier'],
    [{ model: 'models/gemini-2.5-pro' }, 'model'],
  ])('%j', async (fields, param) => {
    const before = same.requests.length
    for (const method of ['generateContent', 'streamGenerateContent', 'countTokens']) {
      const answer = await post(SAME, method, fields)
      expect([answer.status, await answer.json()]).toMatchObject([
        400,
        { error: { details: [{ reason: 'invalid_request', metadata: { param } }] } },
      ])
    }
    expect(same.requests.length).toBe(before)
  })

  test.each<[object, string]>([
    [{ safetySettings: [{ category: 'X', threshold: 'BLOCK_LOW_AND_ABOVE' }] }, 'safetySettings'],
    [{ cachedContent: 'cachedContents/x' }, 'cachedContent'],
  ])('with a model of another format: %j', async (fields, param) => {
    const answer = await post(OTHER, 'generateContent', fields)
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      { error: { details: [{ reason: 'invalid_request', metadata: { param } }] } },
    ])
  })

  test('leaves out what only steers sampling, with a model of another format', async () => {
    other.script(completion('Noon.'))
    const answer = await post(OTHER, 'generateContent', { generationConfig: { topK: 3 } })
    expect([answer.status, answer.headers.get('x-rideau-dropped-params')]).toEqual([
      200,
      'generationConfig.topK',
    ])
  })

  test('accepts safety settings that only loosen a filter', async () => {
    other.script(completion('Noon.'))
    const safetySettings = [{ category: 'X', threshold: 'BLOCK_NONE' }]
    expect((await post(OTHER, 'generateContent', { safetySettings })).status).toBe(200)
  })

  test('a name in both spellings', async () => {
    const answer = await post(SAME, 'generateContent', { systemInstruction: {}, system_instruction: {} })
    expect([answer.status, findErrorCode(await answer.json())]).toEqual([400, 'request_validation_failed'])
  })
})

describe('a caller', () => {
  test('may send its key in x-goog-api-key or as a Bearer token, and never in the URL', async () => {
    other.script(completion('Noon.'))
    const ask = (headers: Record<string, string>, query = ''): Promise<Response> =>
      fetch(`${app.gatewayUrl}/gemini/v1beta/models/${OTHER}:generateContent${query}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(BODY),
      })
    const key = { 'x-goog-api-key': app.secretKey }
    expect((await ask(key)).status).toBe(200)
    expect((await ask({ authorization: `Bearer ${app.secretKey}` })).status).toBe(200)
    const outcome = async (answer: Response): Promise<unknown[]> => {
      const body = (await answer.json()) as any
      return [answer.status, body.error.status, findErrorCode(body)]
    }
    expect(await outcome(await ask({ 'x-goog-api-key': 'AIza' }))).toEqual([
      401,
      'UNAUTHENTICATED',
      'invalid_key',
    ])
    for (const headers of [{}, key]) {
      const refused = await ask(headers, `?key=${app.secretKey}`)
      expect(await outcome(refused.clone())).toEqual([401, 'UNAUTHENTICATED', 'unauthenticated'])
      expect(((await refused.json()) as any).error.message).toContain('x-goog-api-key')
    }
    expect(await outcome(await ask({}))).toEqual([401, 'UNAUTHENTICATED', 'unauthenticated'])
    const elsewhere = await fetch(`${app.gatewayUrl}/v1/models`, { headers: key })
    expect(elsewhere.status).toBe(401)
  })

  test("lists the models in Google's shape", async () => {
    const get = async (path: string): Promise<any> =>
      (
        await fetch(`${app.gatewayUrl}/gemini/v1beta/models${path}`, {
          headers: { 'x-goog-api-key': app.secretKey },
        })
      ).json()
    const { models } = await get('?pageSize=3')
    expect(models).toContainEqual(
      expect.objectContaining({
        name: `models/${OTHER}`,
        inputTokenLimit: expect.any(Number),
        supportedGenerationMethods: expect.arrayContaining(['generateContent']),
      }),
    )
    expect(await get(`/${OTHER}`)).toEqual(models.find((each: any) => each.name === `models/${OTHER}`))
    expect(findErrorCode(await get('/nobody/nothing'))).toBe('model_not_found')
  })

  test("gets failures in Google's shape, also on unknown routes", async () => {
    const answer = await app.call('/gemini/v1beta/models/x:nothing', {})
    expect([answer.status, await answer.json()]).toMatchObject([
      404,
      {
        error: {
          code: 404,
          status: 'NOT_FOUND',
          details: [{ reason: 'route_not_found', domain: 'rideau' }],
        },
      },
    ])
  })

  test('counts tokens at no charge', async () => {
    for (const body of [BODY, { generateContentRequest: { ...BODY, model: `models/${OTHER}` } }]) {
      const answer = await app.call(`/gemini/v1beta/models/${OTHER}:countTokens`, body)
      expect(await answer.json()).toEqual({ totalTokens: expect.any(Number) })
    }
  })
})
