import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  json,
  openScriptedUpstream,
  type ScriptedUpstream,
} from '../../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../../testing/harness/app.ts'
import { makePlaygroundToken } from '../../../testing/harness/playground-token.ts'

/** Images by Gemini's generateContent. */

let app: TestApp
let upstream: ScriptedUpstream

beforeAll(async () => {
  app = await openTestApp()
  upstream = await openScriptedUpstream()
  await app.addCredential('gemini', { api_key: 'google-key', base_url: upstream.baseUrl })
  await app.addCredential('openai', { api_key: 'sk-of-the-tenant', base_url: upstream.baseUrl })
})

afterAll(async () => {
  await upstream.close()
  await app.close()
})

const MODEL = 'gemini/gemini-2.5-flash-image'
const PNG = 'iVBORw0KGgo='
const contents = [{ role: 'user', parts: [{ text: 'a fox' }] }]
const generate = (
  body: object,
  { model = MODEL, method = 'generateContent', ...options }: Record<string, any> = {},
) => app.call(`/gemini/v1beta/models/${model}:${method}`, { contents, ...body }, options)
const sent = () => upstream.requests.at(-1)
const answered = {
  candidates: [
    {
      content: {
        role: 'model',
        parts: [
          { text: 'Here it is.' },
          { inlineData: { mimeType: 'image/png', data: PNG }, thoughtSignature: 's' },
        ],
      },
      finishReason: 'STOP',
    },
  ],
  usageMetadata: {
    promptTokenCount: 10,
    candidatesTokenCount: 1300,
    candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1290 }],
    totalTokenCount: 1310,
  },
}

describe('a Gemini model whose answers are images', () => {
  test('gets the body as it came, and its answer passes through, with words and images billed apart', async () => {
    upstream.script(json(200, answered))
    const generationConfig = {
      responseModalities: ['TEXT', 'IMAGE'],
      imageConfig: { aspectRatio: '16:9' },
      temperature: 1,
    }
    const response = await generate({ generationConfig })
    expect(await response.json()).toEqual(answered)
    expect(sent()).toMatchObject({ path: '/v1/models/gemini-2.5-flash-image:generateContent' })
    expect(sent()?.body).toEqual({ contents, generationConfig })
    const log = await app.findLog(response.headers.get('x-request-id') as string)
    expect(log).toMatchObject({ endpoint: 'images', surface: 'gemini', status: 200, model: MODEL })
    // 10 tokens at $0.30, 10 words at $2.50 and 1,290 tokens of an image at $30 per million.
    expect(log.cost_usd).toBeCloseTo(0.038728, 9)
  })

  test('gets the safety settings of a secret key, and no list that is empty', async () => {
    upstream.script(json(200, answered))
    const safetySettings = [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_LOW_AND_ABOVE' }]
    const generationConfig = { stopSequences: [], responseModalities: ['IMAGE'] }
    const response = await generate({ safetySettings, generationConfig, tools: [] })
    expect(response.status).toBe(200)
    expect(sent()?.body).toEqual({
      contents,
      safetySettings,
      generationConfig: { responseModalities: ['IMAGE'] },
    })
    expect((await generate({ safetySettings: [] })).status).toBe(200)
    expect(sent()?.body).not.toHaveProperty('safetySettings')
    const asked = await generate({ safetySettings }, { key: await makePlaygroundToken(app) })
    expect([asked.status, await asked.text()]).toEqual([
      400,
      expect.stringContaining('"param":"safetySettings"'),
    ])
  })

  test('continues a conversation with the images in it, in either spelling', async () => {
    upstream.script(json(200, answered))
    const talk = [
      ...contents,
      {
        role: 'model',
        parts: [{ inline_data: { mime_type: 'image/png', data: PNG }, thought_signature: 's' }],
      },
      { role: 'user', parts: [{ text: 'now at night' }] },
    ]
    expect((await generate({ contents: talk })).status).toBe(200)
    expect(sent()?.body).toMatchObject({
      contents: [
        contents[0],
        {
          role: 'model',
          parts: [{ inlineData: { mimeType: 'image/png', data: PNG }, thoughtSignature: 's' }],
        },
        { role: 'user', parts: [{ text: 'now at night' }] },
      ],
      generationConfig: { responseModalities: ['TEXT', 'IMAGE'] },
    })
  })

  test('gets each image under the type that its bytes have', async () => {
    upstream.script(json(200, answered))
    const parts = [{ text: 'a fox' }, { inlineData: { mimeType: 'video/mp4', data: PNG } }]
    expect((await generate({ contents: [{ role: 'user', parts }] })).status).toBe(200)
    const image = { inlineData: { mimeType: 'image/png', data: PNG } }
    expect(sent()?.body).toMatchObject({ contents: [{ parts: [{ text: 'a fox' }, image] }] })
  })

  test('may answer with words alone where words were asked for, and not otherwise', async () => {
    const words = {
      candidates: [{ content: { parts: [{ text: 'A fox of which color?' }] }, finishReason: 'STOP' }],
      usageMetadata: {
        promptTokenCount: 10,
        candidatesTokenCount: 6,
        candidatesTokensDetails: [{ modality: 'TEXT', tokenCount: 6 }],
      },
    }
    upstream.script(json(200, words))
    expect(await (await generate({})).json()).toEqual(words)
    const images = await generate({ generationConfig: { responseModalities: ['IMAGE'] } })
    expect(images.status).toBe(503)
  })

  test('streams the whole answer as one event, or as a list', async () => {
    upstream.script(json(200, answered))
    const events = await generate({}, { method: 'streamGenerateContent?alt=sse' })
    expect(events.headers.get('content-type')).toContain('text/event-stream')
    expect(await events.text()).toBe(`data: ${JSON.stringify(answered)}\r\n\r\n`)
    const list = await generate({}, { method: 'streamGenerateContent' })
    expect(await list.json()).toEqual([answered])
  })

  test('reports what the provider filtered', async () => {
    upstream.script(json(200, { candidates: [{ finishReason: 'IMAGE_SAFETY' }] }))
    const response = await generate({})
    expect(response.status).toBe(400)
    expect(await response.text()).toContain('content_filtered')
  })

  test.each([
    ['no contents', { contents: [] }, 'contents'],
    ['no text', { contents: [{ parts: [{ inlineData: { data: PNG } }] }] }, 'contents'],
    [
      'a file of the account',
      { contents: [{ parts: [{ text: 'a', fileData: { fileUri: 'x' } }] }] },
      'contents[0].parts[0].fileData',
    ],
    [
      'what is no image',
      { contents: [{ parts: [{ text: 'a', inlineData: { data: 'aGk=' } }] }] },
      'contents[0].parts[0].inlineData.data',
    ],
    [
      'audio',
      { generationConfig: { responseModalities: ['AUDIO'] } },
      'generationConfig.responseModalities[0]',
    ],
    [
      'words alone',
      { generationConfig: { responseModalities: ['TEXT'] } },
      'generationConfig.responseModalities',
    ],
    ['several answers', { generationConfig: { candidateCount: 2 } }, 'generationConfig.candidateCount'],
    ['an object for a number', { generationConfig: { seed: {} } }, 'generationConfig.seed'],
    ['tools', { tools: [{ googleSearch: {} }] }, 'tools'],
    ['an unknown field', { generationConfig: { speechConfig2: 1 } }, 'generationConfig.speechConfig2'],
  ])('refuses %s by name', async (_title, body, param) => {
    const before = upstream.requests.length
    const response = await generate(body)
    expect(response.status).toBe(400)
    const { error } = (await response.json()) as { error: { details: { metadata: object }[] } }
    expect(error.details[0]?.metadata).toMatchObject({ param })
    expect(upstream.requests.length).toBe(before)
  })

  test('needs the right to make images', async () => {
    const chat = await app.createKey({ restrictions: { allowed_endpoints: ['chat'] } })
    expect((await generate({}, { key: chat.key })).status).toBe(403)
    upstream.script(json(200, answered))
    expect((await generate({}, { key: await makePlaygroundToken(app) })).status).toBe(200)
  })

  test('is refused where it could cost more than the key allows', async () => {
    const { key } = await app.createKey({ restrictions: { max_request_cost_usd: 0.01 } })
    const response = await generate({}, { key })
    expect(response.status).toBe(402)
  })
})

describe('other models', () => {
  test('draw for the text, and are answered in the same shape', async () => {
    upstream.script(
      json(200, {
        data: [{ b64_json: PNG }],
        output_format: 'png',
        usage: { input_tokens: 3, output_tokens: 272, total_tokens: 275 },
      }),
    )
    const response = await generate({}, { model: 'openai/gpt-image-1' })
    expect(await response.json()).toMatchObject({
      candidates: [
        {
          content: { role: 'model', parts: [{ inlineData: { mimeType: 'image/png', data: PNG } }] },
          finishReason: 'STOP',
        },
      ],
      usageMetadata: { candidatesTokenCount: 272 },
    })
    expect(sent()?.body).toMatchObject({ model: 'gpt-image-1', prompt: 'a fox' })
    expect(sent()?.body).not.toHaveProperty('google')
  })

  test.each([
    ['a conversation', { contents: [...contents, ...contents] }, 'contents'],
    ['an instruction', { systemInstruction: { parts: [{ text: 'x' }] } }, 'systemInstruction'],
    [
      'a stricter filter',
      { safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_LOW_AND_ABOVE' }] },
      'safetySettings',
    ],
    [
      "a shape in Gemini's words",
      { generationConfig: { imageConfig: { aspectRatio: '1:1' } } },
      'generationConfig.imageConfig.aspectRatio',
    ],
  ])('refuse %s, which they cannot honour', async (_title, body, param) => {
    const response = await generate(body, { model: 'sandbox/image' })
    expect(response.status).toBe(400)
    expect(await response.text()).toContain(`"param":"${param}"`)
  })

  test('are asked without what only steers sampling, which is named', async () => {
    const generationConfig = { temperature: 1, topK: 40, responseModalities: ['TEXT', 'IMAGE'] }
    // A filter that they do not have is as loose as can be.
    const safetySettings = [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }]
    const response = await generate({ generationConfig, safetySettings }, { model: 'sandbox/image' })
    expect(response.status).toBe(200)
    expect(response.headers.get('x-rideau-dropped-params')).toBe(
      'generationConfig.temperature, generationConfig.topK',
    )
  })

  test('are refused images on the same path if they chat', async () => {
    const body = { generationConfig: { responseModalities: ['TEXT', 'IMAGE'] } }
    const response = await generate(body, { model: 'gemini/gemini-2.5-flash' })
    expect(response.status).toBe(400)
    expect(await response.text()).toContain('responseModalities')
  })
})
