import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  chunk,
  completion,
  cutStream,
  DONE,
  json,
  openScriptedUpstream,
  type ScriptedUpstream,
  stream,
  streamedCompletion,
  usageChunk,
} from '../../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../../testing/harness/app.ts'
import { findErrorCode } from '../../../testing/harness/error-code.ts'
import { makePlaygroundToken } from '../../../testing/harness/playground-token.ts'

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
const NOW = {
  functionDeclarations: [
    {
      name: 'now',
      description: 'The time',
      parameters: { type: 'OBJECT', properties: { tz: { type: 'STRING' } } },
    },
  ],
}
const post = (model: string, method: string, fields: object = {}, options = {}): Promise<Response> =>
  app.call(`/gemini/v1beta/models/${model}:${method}`, { ...BODY, ...fields }, options)

async function readEvents(response: Response): Promise<any[]> {
  const text = await response.text()
  return text
    .split('\r\n\r\n')
    .filter(frame => frame.startsWith('data: '))
    .map(frame => JSON.parse(frame.slice(6)))
}
const textOf = (chunks: any[]): string =>
  chunks
    .flatMap(each => each.candidates?.[0].content.parts)
    .map(part => part?.text ?? '')
    .join('')

describe('a model of another format', () => {
  test("answers in Google's shape, for any model name that chat accepts, raw or encoded", async () => {
    other.script(completion('Noon.'))
    for (const name of [OTHER, 'openai%2Fgpt-4o', 'gpt-4o']) {
      const answer = await post(name, 'generateContent', { generationConfig: { maxOutputTokens: 9 } })
      const id = answer.headers.get('x-request-id')
      expect(await answer.json()).toEqual({
        candidates: [
          { content: { parts: [{ text: 'Noon.' }], role: 'model' }, finishReason: 'STOP', index: 0 },
        ],
        usageMetadata: { promptTokenCount: 12, candidatesTokenCount: 3, totalTokenCount: 15 },
        modelVersion: OTHER,
        responseId: id,
      })
    }
    expect(other.requests.at(-1)?.body).toMatchObject({
      model: 'gpt-4o',
      messages: [{ role: 'user', content: 'What time is it?' }],
      max_completion_tokens: 9,
    })
  })

  const call = {
    id: 'call_1',
    type: 'function',
    function: { name: 'now', arguments: '{"tz":"UTC"}' },
  }

  test('declares and calls a tool, and finds the call of its result by id', async () => {
    other.script(
      completion('', {
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: null, tool_calls: [call] },
            finish_reason: 'tool_calls',
          },
        ],
      }),
      completion('Noon.'),
    )
    const asked = await post(OTHER, 'generateContent', {
      tools: [NOW],
      toolConfig: { functionCallingConfig: { mode: 'ANY' } },
    })
    const { candidates } = (await asked.json()) as any
    expect(candidates[0]).toMatchObject({
      finishReason: 'STOP',
      content: { parts: [{ functionCall: { id: 'call_1', name: 'now', args: { tz: 'UTC' } } }] },
    })
    expect(other.requests.at(-1)?.body).toMatchObject({
      tool_choice: 'required',
      tools: [
        {
          function: {
            name: 'now',
            parameters: { type: 'object', properties: { tz: { type: 'string' } } },
          },
        },
      ],
    })
    const contents = [
      ...BODY.contents,
      candidates[0].content,
      { role: 'user', parts: [{ functionResponse: { name: 'now', response: { time: '12:00' } } }] },
    ]
    await post(OTHER, 'generateContent', { contents, tools: [NOW] })
    const messages = other.requests.at(-1)?.body.messages as any[]
    expect(messages[1].tool_calls[0]).toMatchObject({ id: 'call_1', function: { arguments: '{"tz":"UTC"}' } })
    expect(messages[2]).toMatchObject({ role: 'tool', tool_call_id: 'call_1', content: '{"time":"12:00"}' })
  })

  test('streams events with alt=sse, and a JSON list without', async () => {
    other.script(streamedCompletion('No', 'on', '.'))
    const events = await readEvents(await post(OTHER, 'streamGenerateContent?alt=sse'))
    expect(textOf(events)).toBe('Noon.')
    expect(events.at(-1)).toMatchObject({
      candidates: [{ finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 12, candidatesTokenCount: 3 },
    })
    expect(events.filter(each => each.candidates[0].finishReason !== undefined)).toHaveLength(1)
    const list = await post(OTHER, 'streamGenerateContent')
    expect(list.headers.get('content-type')).toContain('application/json')
    const chunks = (await list.json()) as any[]
    expect(chunks.map(({ candidates }) => candidates)).toEqual(events.map(({ candidates }) => candidates))
  })

  test('sends a streamed call whole, in its last chunk', async () => {
    const piece = (fields: object) => chunk({ tool_calls: [{ index: 0, ...fields }] })
    other.script(
      stream(
        piece({ ...call, function: { name: 'now', arguments: '' } }),
        piece({ function: { arguments: '{"tz":' } }),
        piece({ function: { arguments: '"UTC"}' } }),
        chunk({}, 'tool_calls'),
        usageChunk(),
        DONE,
      ),
    )
    const events = await readEvents(await post(OTHER, 'streamGenerateContent?alt=sse', { tools: [NOW] }))
    expect(events).toHaveLength(1)
    expect(events[0].candidates[0]).toMatchObject({
      finishReason: 'STOP',
      content: { parts: [{ functionCall: { id: 'call_1', name: 'now', args: { tz: 'UTC' } } }] },
    })
  })

  test('returns thoughts only if they are requested', async () => {
    other.script(
      completion('', {
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: 'Noon.', reasoning_content: 'Hm.' },
            finish_reason: 'stop',
          },
        ],
      }),
    )
    const partsOf = async (thinkingConfig: object): Promise<unknown> => {
      const answer = await post(OTHER, 'generateContent', { generationConfig: { thinkingConfig } })
      return ((await answer.json()) as any).candidates[0].content.parts
    }
    expect(await partsOf({ includeThoughts: true })).toEqual([
      { text: 'Hm.', thought: true },
      { text: 'Noon.' },
    ])
    // A model that cannot think does not think anyway.
    expect(await partsOf({ thinkingBudget: 0 })).toEqual([{ text: 'Noon.' }])
  })

  test("sends a schema in the API's older form as JSON Schema", async () => {
    other.script(completion('{"a":1}'))
    const responseSchema = {
      type: 'OBJECT',
      properties: { b: { type: 'STRING', nullable: true }, a: { type: 'INTEGER' } },
      propertyOrdering: ['a', 'b'],
    }
    await post(OTHER, 'generateContent', {
      generationConfig: { responseMimeType: 'application/json', responseSchema },
    })
    const { response_format: format } = other.requests.at(-1)?.body as any
    expect(format.json_schema.schema).toEqual({
      type: 'object',
      properties: { a: { type: 'integer' }, b: { type: ['string', 'null'] } },
    })
    expect(Object.keys(format.json_schema.schema.properties)).toEqual(['a', 'b'])
  })

  test.each(['streamGenerateContent?alt=sse', 'streamGenerateContent'])(
    'ends a failed stream with the error as its last element (%s)',
    async method => {
      other.script(cutStream(chunk({ role: 'assistant', content: 'No' })))
      const answer = await post(OTHER, method)
      expect(answer.status).toBe(200)
      const chunks = method.includes('sse') ? await readEvents(answer) : ((await answer.json()) as any[])
      expect(textOf(chunks.slice(0, -1))).toBe('No')
      expect(chunks.at(-1).error).toMatchObject({ code: 502, status: 'UNAVAILABLE' })
      expect(findErrorCode(chunks.at(-1))).toBe('stream_interrupted')
      const log = await app.findLog(answer.headers.get('x-request-id') ?? '')
      expect(log).toMatchObject({ error_code: 'stream_interrupted', surface: 'gemini' })
    },
  )
})

test('ends a failed stream of events with an event of the error, and with the error alone, which the official clients throw on', async () => {
  other.script(cutStream(chunk({ role: 'assistant', content: 'No' })))
  const text = await (await post(OTHER, 'streamGenerateContent?alt=sse')).text()
  // They take an event with an error for an empty chunk. Text that no event ends is an error to them in any case.
  const [event, last = ''] = text.split('\r\n\r\n').slice(-2)
  expect(event).toBe(`data: ${last}`)
  expect(JSON.parse(last).error.code).toBe(502)
  expect(last).not.toMatch(/\s$/)
})

describe('a model of the same format', () => {
  const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 2, totalTokenCount: 12 }
  const answerOf = (text: string, finishReason?: string): object => ({
    candidates: [
      {
        content: { role: 'model', parts: [{ text, thoughtSignature: 'SIGNED' }] },
        ...(finishReason === undefined ? {} : { finishReason, safetyRatings: [{ category: 'X' }] }),
      },
    ],
    usageMetadata,
    modelVersion: 'gemini-2.5-flash',
    responseId: 'r1',
  })
  const fields = {
    contents: [
      { parts: [{ text: 'x', videoMetadata: { fps: 1 } }] },
      {
        role: 'model',
        parts: [
          { text: 'y', thoughtSignature: 'SIGNED' },
          { text: 'hm', thought: true },
        ],
      },
      { role: 'user', parts: [{ fileData: { fileUri: 'https://example.com/a.png' } }] },
    ],
    safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_LOW_AND_ABOVE' }],
    generation_config: { top_k: 3, max_output_tokens: 9 },
  }

  test("receives the caller's fields, and its answer is passed on unchanged", async () => {
    same.script(json(200, answerOf('Noon.', 'STOP')))
    const answer = await post(SAME, 'generateContent', fields)
    expect(await answer.json()).toEqual(answerOf('Noon.', 'STOP'))
    const { generation_config: _, ...rest } = fields
    expect(same.requests.at(-1)?.body).toEqual({
      ...rest,
      contents: fields.contents.map(content => ({ role: 'user', ...content })),
      generationConfig: { topK: 3, maxOutputTokens: 9 },
    })
    const log = await app.findLog(answer.headers.get('x-request-id') ?? '')
    expect(log).toMatchObject({ usage: { input_tokens: 10, output_tokens: 2 }, surface: 'gemini' })
  })

  test.each(['streamGenerateContent?alt=sse', 'streamGenerateContent'])(
    'streams the answer unchanged (%s)',
    async method => {
      const frames = [answerOf('No'), answerOf('on.', 'STOP')]
      same.script(stream(...frames.map(each => `data: ${JSON.stringify(each)}\r\n\r\n`)))
      const answer = await post(SAME, method, fields)
      expect(method.includes('sse') ? await readEvents(answer) : await answer.json()).toEqual(frames)
      expect(same.requests.at(-1)?.path).toContain(':streamGenerateContent?alt=sse')
    },
  )

  test('refuses safety settings and names of stored data from a client token', async () => {
    const token = await makePlaygroundToken(app)
    same.script(json(200, answerOf('Noon.', 'STOP')))
    const before = same.requests.length
    for (const [given, param] of [
      [{ safetySettings: [] }, 'safetySettings'],
      [
        { generationConfig: { mediaResolution: 'MEDIA_RESOLUTION_HIGH' } },
        'generationConfig.mediaResolution',
      ],
      [{ contents: [{ parts: [{ text: 'x', videoMetadata: {} }] }] }, 'contents[0].parts[0].videoMetadata'],
      [{ cachedContent: 'cachedContents/x' }, 'cachedContent'],
      [
        { contents: [{ parts: [{ fileData: { fileUri: 'gs://bucket/x.png' } }] }] },
        'contents[0].parts[0].fileData.fileUri',
      ],
    ] as const) {
      const refused = await post(SAME, 'generateContent', given, { key: token })
      expect([refused.status, await refused.json()]).toMatchObject([
        400,
        { error: { details: [{ reason: 'invalid_request', metadata: { param } }] } },
      ])
    }
    expect(same.requests.length).toBe(before)
    const taken = await post(SAME, 'generateContent', { generationConfig: { topK: 3 } }, { key: token })
    expect(taken.status).toBe(200)
  })
})
