import { FormatRegistry } from '@rideau/llm/formats/format-registry'
import { FORMATS } from '@rideau/llm/formats/index'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../../../testing/harness/app.ts'
import { toyFormat } from '../../../testing/toy-format/format.ts'

// A format that is added in one folder and one list is served like every other format.

const MODEL = 'sandbox%2Fecho'

let app: TestApp
beforeAll(async () => {
  const formats = [...FORMATS, toyFormat]
  app = await openTestApp({}, { bodyTimeoutMs: 60_000, graceMs: 1_000, formats })
})
afterAll(() => app.close())

test('serves an answer and records it', async () => {
  const response = await app.call(`/toy/say/${MODEL}`, { text: 'a toy' })
  expect(response.status).toBe(200)
  expect(await response.json()).toEqual({ text: 'a toy', costNanoUsd: expect.any(Number) })
  expect(await app.findLog(response.headers.get('x-request-id') ?? '')).toMatchObject({
    surface: 'toy',
    endpoint: 'chat',
    model_requested: 'sandbox/echo',
    status: 200,
  })
})

test('serves a stream of its own content type', async () => {
  const response = await app.call(`/toy/say/${MODEL}`, { text: 'one two', flow: true })
  expect(response.headers.get('content-type')).toBe('text/x-toy')
  const text = await response.text()
  expect(text.replaceAll('\n', '')).toBe('one two(stop)')
})

test('accepts its own key header and reports failures in its shape', async () => {
  const ask = (headers: Record<string, string>, body: unknown) =>
    fetch(`${app.gatewayUrl}/toy/say/${MODEL}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  expect((await ask({ 'x-toy-key': app.secretKey }, { text: 'hi' })).status).toBe(200)
  const refused = await ask({ 'x-toy-key': app.secretKey }, { text: 5 })
  expect([refused.status, await refused.json()]).toEqual([
    400,
    { refused: 'invalid_request', why: expect.stringContaining('text') },
  ])
  const unknown = await ask({}, { text: 'hi' })
  expect([unknown.status, await unknown.json()]).toEqual([
    401,
    { refused: 'unauthenticated', why: expect.any(String) },
  ])
  const missing = await fetch(`${app.gatewayUrl}/toy/nothing`)
  expect(await missing.json()).toMatchObject({ refused: 'route_not_found' })
})

test('serves a token count and a list of models', async () => {
  const count = await app.call(`/toy/count/${MODEL}`, { text: 'eight letters' })
  expect(await count.json()).toEqual({ tokens: expect.any(Number) })
  const models = await fetch(`${app.gatewayUrl}/toy/models`, {
    headers: { authorization: `Bearer ${app.secretKey}` },
  })
  expect(((await models.json()) as { names: string[] }).names).toContain('sandbox/echo')
})

test('finds its client side by its id', () => {
  expect(new FormatRegistry([...FORMATS, toyFormat]).client('toy').id).toBe('toy')
  expect(() => new FormatRegistry(FORMATS).client('toy')).toThrow('no client format is registered as toy')
})
