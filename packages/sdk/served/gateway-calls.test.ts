import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fromBackend } from '../from-backend.ts'
import { fromDevice } from '../from-device.ts'
import { fromIdentityToken } from '../from-identity-token.ts'
import { RideauClient } from '../rideau-client.ts'
import { RideauServer } from '../rideau-server.ts'
import { type GatewayApp, openGatewayApp } from '../testing/gateway-app.ts'
import { createAndroidDevice, createIosDevice } from '../testing/native-code.ts'
import type { TokenSource } from '../token-cache.ts'

let gateway: GatewayApp
let server: RideauServer
beforeAll(async () => {
  gateway = await openGatewayApp()
  server = new RideauServer({ gatewayUrl: gateway.gatewayUrl, secretKey: gateway.app.secretKey })
})
afterAll(() => gateway.close())

const SCOPES = ['ai.chat', 'ai.embed', 'ai.images', 'feedback'] as const
const PARAMS = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Good mörning' }] } as const
const open = (tokenSource: TokenSource): RideauClient =>
  new RideauClient({ gatewayUrl: gateway.gatewayUrl, tokenSource })
const ofBackend = (): TokenSource =>
  fromBackend(() => server.mintClientToken({ endUser: { id: 'alice' }, scopes: SCOPES }))

describe.each<[string, () => TokenSource, RegExp]>([
  ["the app's backend", ofBackend, /^alice$/],
  [
    'an identity token',
    () =>
      fromIdentityToken({
        publishableKey: gateway.publishableKey,
        getIdentityToken: () => gateway.signIn('alice'),
        scopes: SCOPES,
      }),
    /^alice$/,
  ],
  [
    'an iOS device',
    () => fromDevice({ publishableKey: gateway.publishableKey, device: createIosDevice(gateway.devices) }),
    /^device:/,
  ],
  [
    'an Android device',
    () =>
      fromDevice({ publishableKey: gateway.publishableKey, device: createAndroidDevice(gateway.devices) }),
    /^device:/,
  ],
])('by a client token from %s the running app answers', (_, source, endUser) => {
  test('a chat, plain and streamed', async () => {
    const client = open(source())
    const plain = await client.chat(PARAMS)
    expect(plain.choices[0]?.message.content).toContain('Good mörning')
    const stream = client.streamChat(PARAMS)
    const chunks = []
    for await (const chunk of stream) chunks.push(chunk)
    const text = chunks.map(chunk => chunk.choices[0]?.delta.content ?? '').join('')
    expect(text).toBe(plain.choices[0]?.message.content)
    expect(chunks.at(-1)?.usage?.total_tokens).toBeGreaterThan(0)
    expect(stream.requestId).toBe(chunks[0]?.id)
    expect(client.endUserId).toMatch(endUser)
    const log = await gateway.app.findLog(plain.id)
    expect(log.end_user_id).toMatch(endUser)
  })
})

describe('by a client token the running app answers', () => {
  test('embeddings, images, the list of models and feedback', async () => {
    const client = open(ofBackend())
    const embedded = await client.embed({ model: 'sandbox/embed', input: ['a', 'b'] })
    expect(embedded.data).toHaveLength(2)
    const image = await client.generateImages({ model: 'sandbox/image', prompt: 'a cat' })
    expect(image.data[0]).toBeDefined()
    expect((await client.listModels()).map(({ id }) => id)).toContain('sandbox/echo')
    const { id } = await client.chat(PARAMS)
    await gateway.app.findLog(id)
    const feedback = await client.sendFeedback({ request_id: id, score: 1, comment: 'good' })
    expect(feedback).toMatchObject({ request_id: id, score: 1, comment: 'good' })
  })

  test('an edited image', async () => {
    const client = open(ofBackend())
    const made = await client.generateImages({
      model: 'sandbox/image',
      prompt: 'a cat',
      response_format: 'b64_json',
    })
    const bytes = Buffer.from(made.data[0]?.b64_json ?? '', 'base64')
    const image = new Blob([bytes], { type: 'image/png' })
    const edited = await client.editImages({ model: 'sandbox/image', prompt: 'a dog', image })
    expect(edited.data[0]).toBeDefined()
  })

  test('a cancel of a request that is in flight', async () => {
    const client = open(ofBackend())
    const requestId = crypto.randomUUID()
    const slow = client.chat({ ...PARAMS, model: 'sandbox/slow' }, { requestId })
    slow.catch(() => {})
    // The request must have been identified before it can be canceled.
    for (let isCanceled = false; !isCanceled; ) isCanceled = await client.cancel(requestId)
    await expect(slow).rejects.toMatchObject({ code: 'request_canceled', status: 400, requestId })
    expect(await client.cancel(requestId)).toBe(false)
  })

  test('each failure of the sandbox with its code', async () => {
    const client = open(ofBackend())
    const options = { maxRetries: 0 }
    for (const [model, code] of [
      ['sandbox/timeout', 'timeout'],
      ['sandbox/overloaded', 'provider_overloaded'],
      ['sandbox/unavailable', 'provider_unavailable'],
      ['sandbox/rejected', 'provider_rejected'],
      ['sandbox/no-such', 'model_not_found'],
    ] as const) {
      await expect(client.chat({ ...PARAMS, model }, options)).rejects.toMatchObject({ code })
    }
    const stream = client.streamChat({ ...PARAMS, model: 'sandbox/interrupted' }, options)
    await expect(stream.text()).rejects.toMatchObject({ code: 'stream_interrupted', status: 502 })
  })

  test('the official OpenAI client', async () => {
    const openai = new OpenAI(open(ofBackend()).openAiOptions())
    const answer = await openai.chat.completions.create({
      model: 'sandbox/echo',
      messages: [{ role: 'user', content: 'hello' }],
    })
    expect(answer.choices[0]?.message.content).toContain('hello')
    const embedded = await openai.embeddings.create({ model: 'sandbox/embed', input: 'a' })
    expect(embedded.data[0]?.embedding.length).toBeGreaterThan(0)
  })
})

test('a secret key chats on behalf of an end user', async () => {
  const infos: (string | null)[] = []
  const onResponse = ({ requestId }: { requestId: string | null }): void => void infos.push(requestId)
  const answer = await server.chat({ ...PARAMS, end_user: 'bob' }, { onResponse })
  expect(infos).toEqual([answer.id])
  expect((await gateway.app.findLog(answer.id)).end_user_id).toBe('bob')
})

test('a minted token has a lifetime that needs no clock', async () => {
  const minted = await server.mintClientToken({ endUser: { id: 'alice' }, scopes: SCOPES })
  expect(minted).toEqual({
    token: expect.any(String),
    expires_at: expect.any(String),
    end_user_id: 'alice',
    expires_in: 900,
  })
})
