import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  completion,
  openScriptedUpstream,
  type ScriptedUpstream,
} from '../../testing/fakes/scripted-upstream.ts'
import { openTestApp, TEST_OVERRIDES, type TestApp } from '../../testing/harness/app.ts'
import { makePlaygroundToken } from '../../testing/harness/playground-token.ts'

/** What a client token may have a provider fetch. The upstream stands for a server inside a private network. */

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
const DATA_URL = `data:image/png;base64,${PNG.toString('base64')}`
const FAST = { fetchTimes: { timeoutMs: 2_000, failureMs: 2_100 } }

let app: TestApp
let upstream: ScriptedUpstream
let host: ScriptedUpstream
let token: string

beforeAll(async () => {
  app = await openTestApp({}, { ...TEST_OVERRIDES, ...FAST, callerEgress: { allowPrivate: true } })
  upstream = await openScriptedUpstream()
  host = await openScriptedUpstream()
  host.script(res => void res.writeHead(200).end(PNG))
  for (const provider of ['vllm', 'custom', 'anthropic']) {
    await app.addCredential(provider, { api_key: 'k', base_url: upstream.baseUrl })
  }
  for (const provider of ['openai', 'moonshot', 'openrouter']) {
    await app.addCredential(provider, { api_key: 'k' })
  }
  token = await makePlaygroundToken(app)
})
afterAll(async () => {
  await Promise.all([upstream.close(), host.close()])
  await app.close()
})

interface Outcome {
  readonly status: number
  readonly param?: string
  readonly message?: string
}

async function call(path: string, body: object, key: string): Promise<Outcome> {
  const response = await app.call(path, body, { key })
  const { error } = (await response.json()) as any
  return error === undefined
    ? { status: response.status }
    : { status: response.status, param: error.param, message: error.message }
}

const say = (...content: object[]): object => ({ messages: [{ role: 'user', content }] })
const image = (url: string): object => ({ type: 'image_url', image_url: { url } })
const ask = (model: string, key: string, ...content: object[]): Promise<Outcome> =>
  call('/openai/v1/chat/completions', { model, ...say(...content) }, key)

const PRIVATE = [
  'http://10.0.0.5:6379/',
  'https://169.254.169.254/a.png',
  'https://[::ffff:a9fe:a9fe]/',
  'file:///etc/passwd',
]

describe.each([false, true])('a client token, with allow_client_passthrough %s', trusted => {
  beforeAll(async () => {
    const fields = { allow_client_passthrough: trusted }
    await app.manage('PATCH', `/v1/environments/${app.developmentId}`, fields)
  })

  test.each(['openai/gpt-4o-mini', 'moonshot/kimi-k2.5', 'openrouter/openai/gpt-4o-mini'])(
    'may not have %s fetch from a private host',
    async model => {
      for (const url of [...PRIVATE, 'ms://file-id']) {
        expect(await ask(model, token, image(url))).toMatchObject({
          status: 400,
          param: 'messages[0].content[0].image_url.url',
          message: expect.stringContaining('must be a data URL, or an https: address'),
        })
      }
      const file = { type: 'file', file: { file_url: 'https://10.0.0.5/a.pdf' } }
      expect(await ask(model, token, file)).toMatchObject({ param: 'messages[0].content[0].file.file_url' })
    },
  )

  test('may not have Responses fetch a file from a private host', async () => {
    const content = [{ type: 'input_file', file_url: 'https://10.0.0.5/a.pdf' }]
    const body = { model: 'openai/gpt-4o-mini', input: [{ role: 'user', content }] }
    expect(await call('/openai/v1/responses', body, token)).toMatchObject({
      status: 400,
      param: 'input[0].content[0].file_url',
      message: expect.stringContaining('must be a data URL, or an https: address'),
    })
  })

  test.each(['vllm/q', 'custom/q'])(
    "has the gateway fetch the images of %s, at an address of the credential's own",
    async model => {
      upstream.script(completion('A cat.'))
      const before = host.requests.length
      expect(await ask(model, token, image(`${host.origin}/a.png`))).toEqual({ status: 200 })
      expect(host.requests.length).toBe(before + 1)
      expect(upstream.requests.at(-1)?.body.messages).toEqual([
        { role: 'user', content: [{ type: 'image_url', image_url: { url: DATA_URL } }] },
      ])
    },
  )

  test('may not name a file by its address there, since the gateway fetches images alone', async () => {
    const before = upstream.requests.length
    for (const file of [{ file_url: 'https://a.example/a.pdf' }, { file_data: 'https://a.example/a.pdf' }]) {
      const [name] = Object.keys(file)
      expect(await ask('vllm/q', token, { type: 'file', file })).toMatchObject({
        status: 400,
        param: `messages[0].content[0].file.${name}`,
        message: expect.stringContaining('must be a data URL: this provider is not asked to fetch'),
      })
    }
    expect(upstream.requests.length).toBe(before)
  })

  test('may send a body of another format than chat completions there with data URLs only', async () => {
    const source = { type: 'url', url: 'https://a.example/a.png' }
    const body = { model: 'anthropic/claude-sonnet-4-6', max_tokens: 9, ...say({ type: 'image', source }) }
    expect(await call('/anthropic/v1/messages', body, token)).toMatchObject({ status: 400 })
  })

  test('may not have an image server there fetch, which gets the image itself', async () => {
    upstream.script(res => void res.writeHead(200).end(JSON.stringify({ data: [{ b64_json: 'QUJD' }] })))
    const edit = (url: string): Promise<Outcome> =>
      call('/openai/v1/images/edits', { model: 'custom/q', prompt: 'a', images: [{ image_url: url }] }, token)
    expect(await edit(`${host.origin}/a.png`)).toEqual({ status: 200 })
    const sent = upstream.requests.at(-1)
    expect(sent?.bytes.includes(PNG)).toBe(true)
    expect(sent?.bytes.includes(host.origin)).toBe(false)
  })
})

test('a trusted client token may not name a private address in content that the gateway does not know', async () => {
  upstream.script(completion('x'))
  const video = (url: string): object => ({ type: 'video_url', video_url: { url } })
  const fields = { allow_client_passthrough: true }
  await app.manage('PATCH', `/v1/environments/${app.developmentId}`, fields)
  for (const url of PRIVATE) expect((await ask('openai/gpt-4o-mini', token, video(url))).status).toBe(400)
  expect((await ask('vllm/q', token, video('https://a.example/a.mp4'))).status).toBe(400)
  expect((await ask('vllm/q', token, video('data:video/mp4;base64,QUJD'))).status).toBe(200)
})

test('a key decides for itself what its own server fetches', async () => {
  upstream.script(completion('x'))
  const before = host.requests.length
  for (const url of [...PRIVATE, `${host.origin}/a.png`]) {
    expect(await ask('vllm/q', app.secretKey, image(url))).toEqual({ status: 200 })
    expect(JSON.stringify(upstream.requests.at(-1)?.body)).toContain(url)
  }
  expect(host.requests.length).toBe(before)
})
