import OpenAI, { toFile } from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { json, openScriptedUpstream, type ScriptedUpstream } from '../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../testing/harness/app.ts'

let app: TestApp
let upstream: ScriptedUpstream
let client: OpenAI

beforeAll(async () => {
  app = await openTestApp()
  upstream = await openScriptedUpstream()
  for (const provider of ['openai', 'gemini']) {
    await app.addCredential(provider, { api_key: 'sk-of-the-tenant', base_url: upstream.baseUrl })
  }
  client = new OpenAI({ baseURL: `${app.gatewayUrl}/openai/v1`, apiKey: app.secretKey, maxRetries: 0 })
})

afterAll(async () => {
  await upstream.close()
  await app.close()
})

const MODEL = 'openai/gpt-image-1'
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const GENERATIONS = '/openai/v1/images/generations'
const EDITS = '/openai/v1/images/edits'

const made = json(200, { created: 1_700_000_000, data: [{ b64_json: 'QUJD' }] })

const drawn = json(200, {
  candidates: [
    { content: { parts: [{ inlineData: { mimeType: 'image/png', data: 'QUJD' } }] }, finishReason: 'STOP' },
  ],
})

async function errorOf(response: Response): Promise<Record<string, unknown>> {
  return ((await response.json()) as { error: Record<string, unknown> }).error
}

describe('POST {prefix}/v1/images/edits', () => {
  // A long form is written in turns.
  test.each([
    ['a short', PNG],
    ['a long', Buffer.concat([PNG, Buffer.alloc(1_000_000, 'fox')])],
  ])('passes the files of %s form of the official client unchanged', async (_, png) => {
    upstream.script(made)
    const answer = await client.images.edit({
      model: MODEL,
      prompt: 'make it green',
      image: [
        await toFile(png, 'a.png', { type: 'image/png' }),
        await toFile(png, 'b.png', { type: 'text/plain' }),
      ],
      mask: await toFile(png, 'mask.png', { type: 'image/png' }),
      n: 1,
      output_compression: 80,
    })
    expect(answer.data).toEqual([{ b64_json: 'QUJD' }])
    const sent = upstream.requests.at(-1)
    expect(sent?.path).toBe('/v1/images/edits')
    const form = await new Response(sent?.bytes, {
      headers: { 'content-type': sent?.headers['content-type'] as string },
    }).formData()
    expect(form.get('model')).toBe('gpt-image-1')
    expect(form.get('output_compression')).toBe('80')
    const files = [...form.getAll('image[]'), form.get('mask')] as File[]
    expect(files.map(({ type }) => type)).toEqual(['image/png', 'image/png', 'image/png'])
    for (const file of files) expect(Buffer.from(await file.arrayBuffer())).toEqual(png)
  })

  test('sends the images of a JSON body with data URLs to a Gemini target', async () => {
    upstream.script(drawn)
    const url = `data:image/png;base64,${PNG.toString('base64')}`
    const response = await app.call(EDITS, {
      model: 'gemini/gemini-2.5-flash-image',
      prompt: 'make it green',
      images: [{ image_url: url }],
    })
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ data: [{ b64_json: 'QUJD' }], output_format: 'png' })
    expect(upstream.requests.at(-1)?.body.contents).toEqual([
      {
        role: 'user',
        parts: [
          { text: 'make it green' },
          { inlineData: { mimeType: 'image/png', data: PNG.toString('base64') } },
        ],
      },
    ])
  })

  test('does not fetch a forbidden address for a provider that fetches no images', async () => {
    const before = upstream.requests.length
    const response = await app.call(EDITS, {
      model: 'gemini/gemini-2.5-flash-image',
      prompt: 'make it green',
      images: [{ image_url: 'http://169.254.169.254/latest/meta-data' }],
    })
    expect(response.status).toBe(400)
    expect(await errorOf(response)).toMatchObject({ code: 'invalid_request', param: 'images[0].image_url' })
    expect(upstream.requests).toHaveLength(before)
  })

  const form = (fields: Record<string, string | Blob>, more: [string, string | Blob][] = []): FormData => {
    const data = new FormData()
    for (const [name, value] of [...Object.entries(fields), ...more]) data.append(name, value)
    return data
  }
  const image = new Blob([PNG])
  const base = { model: MODEL, prompt: 'x' }

  test.each([
    ['no image', form(base), 'invalid_request', 'images'],
    ['text for an image', form({ ...base, image: 'text' }), 'invalid_request', 'image'],
    ['a file that is not an image', form({ ...base, image: new Blob(['text']) }), 'invalid_request', 'image'],
    ['another file', form({ ...base, image, other: image }), 'invalid_request', 'other'],
    [
      'a field twice',
      form({ ...base, image }, [['model', 'openai/gpt-image-2']]),
      'request_validation_failed',
      'model',
    ],
    [
      'two masks',
      form({ ...base, image, mask: image }, [['mask', image]]),
      'request_validation_failed',
      'mask',
    ],
    ['a stream', form({ ...base, image, stream: 'true' }), 'invalid_request', 'stream'],
    ['an invalid number', form({ ...base, image, n: 'two' }), 'invalid_request', 'n'],
    ['another model beside', form({ ...base, image, models: 'x' }), 'invalid_request', 'models'],
    [
      'too many parts',
      form(
        { ...base, image },
        Array.from({ length: 120 }, (_, i) => [`f${i}`, 'x']),
      ),
      'request_validation_failed',
      null,
    ],
  ] as [string, FormData, string, string | null][])(
    'refuses a form with %s',
    async (_, data, code, param) => {
      const before = upstream.requests.length
      const response = await fetch(app.gatewayUrl + EDITS, {
        method: 'POST',
        headers: { authorization: `Bearer ${app.secretKey}` },
        body: data,
      })
      expect(response.status).toBe(400)
      expect(await errorOf(response)).toMatchObject({ code, param })
      expect(upstream.requests).toHaveLength(before)
    },
  )

  test('refuses a broken form with 400 and another content type with 415', async () => {
    const call = (contentType: string): Promise<Response> =>
      app.call(EDITS, 'not a form', { headers: { 'content-type': contentType } })
    for (const contentType of ['multipart/form-data; boundary=x', 'multipart/form-data; charset=utf-8']) {
      const response = await call(contentType)
      expect(response.status).toBe(400)
      expect(await errorOf(response)).toMatchObject({ code: 'request_validation_failed' })
    }
    for (const route of [EDITS, GENERATIONS]) {
      const response = await app.call(route, 'x', { headers: { 'content-type': 'text/plain' } })
      expect(response.status).toBe(415)
      expect(await errorOf(response)).toMatchObject({ code: 'unsupported_media_type' })
    }
    const json415 = await app.call(GENERATIONS, 'x', {
      headers: { 'content-type': 'multipart/form-data; boundary=x' },
    })
    expect(json415.status).toBe(415)
  })

  test.each([
    ['a file stored at the provider', [{ file_id: 'file-1' }], 'images[0].file_id'],
    ['text', [{ image_url: 'text' }], 'images[0].image_url'],
    ['data that is not an image', [{ image_url: 'data:image/png;base64,QUJD' }], 'images[0].image_url'],
    ['none', [], 'images'],
  ])('refuses JSON that names %s', async (_, images, param) => {
    const response = await app.call(EDITS, { ...base, images })
    expect(response.status).toBe(400)
    expect(await errorOf(response)).toMatchObject({ code: 'invalid_request', param })
  })
})
