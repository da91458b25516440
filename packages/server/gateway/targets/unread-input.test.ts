import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type LimitedApp, openLimitedApp } from '../../testing/harness/limited-app.ts'
import { makePlaygroundToken } from '../../testing/harness/playground-token.ts'

/** What reaches a provider is counted or refused, also where the gateway does not read it. */

const LONG = 'lorem ipsum '.repeat(35_000)
const ANTHROPIC = { model: 'anthropic/claude-sonnet-4-5', max_tokens: 100 }
const OPENAI = { model: 'openai/gpt-4o', max_tokens: 100 }
const HI = { role: 'user', content: 'hi' }
const CHAT = '/openai/v1/chat/completions'
const MESSAGES = '/anthropic/v1/messages'
const RESPONSES = '/openai/v1/responses'
const GEMINI = '/gemini/v1beta/models/gemini-2.5-flash:generateContent'
const COHERE = '/cohere/v2/chat'
const COMPLETER = 'custom/completer'

let limited: LimitedApp

beforeAll(async () => {
  limited = await openLimitedApp()
  await limited.addCredentials('anthropic', 'openai', 'gemini', 'cohere')
  await limited.make(`/v1/environments/${limited.app.developmentId}/custom-models`, {
    model: COMPLETER,
    capabilities: ['chat'],
    context_window: 100_000,
    pricing: { input_usd_per_mtok: 1, output_usd_per_mtok: 1 },
  })
})
afterAll(() => limited.close())

type Case = [string, string, object]

const by = (role: string, ...content: unknown[]): object => ({ role, content })
const items = (...input: unknown[]): object => ({ model: 'openai/gpt-5', max_output_tokens: 100, input })
const parts = (role: string, ...each: unknown[]): object => ({
  contents: [
    { role: 'user', parts: [{ text: 'hi' }] },
    { role, parts: each },
  ],
  generationConfig: { maxOutputTokens: 100 },
})
const YOUTUBE = 'https://www.youtube.com/watch?v=abc'

const TEXTS: Case[] = [
  [
    'the output of a tool that the provider ran',
    MESSAGES,
    {
      ...ANTHROPIC,
      messages: [
        HI,
        by('assistant', {
          type: 'bash_code_execution_tool_result',
          tool_use_id: 'srvtoolu_1',
          content: {
            type: 'bash_code_execution_result',
            stdout: LONG,
            stderr: '',
            return_code: 0,
            content: [],
          },
        }),
      ],
    },
  ],
  [
    'thinking',
    MESSAGES,
    { ...ANTHROPIC, messages: [HI, by('assistant', { type: 'thinking', thinking: LONG, signature: 's' })] },
  ],
  [
    'the output of a shell',
    RESPONSES,
    items({ type: 'shell_call_output', call_id: 'c', output: [{ stdout: LONG, stderr: '' }] }),
  ],
  [
    'a summary of reasoning',
    RESPONSES,
    items({ type: 'reasoning', summary: [{ type: 'summary_text', text: LONG }] }),
  ],
  [
    'reasoning',
    CHAT,
    { ...OPENAI, messages: [{ role: 'assistant', content: 'a', reasoning_content: LONG }, HI] },
  ],
  ['a refusal', CHAT, { ...OPENAI, messages: [{ role: 'assistant', content: 'a', refusal: LONG }, HI] }],
  [
    'another field of a part',
    CHAT,
    { ...OPENAI, messages: [by('user', { type: 'text', text: 'hi', more: LONG })] },
  ],
  [
    'a part that also has a short text',
    CHAT,
    { ...OPENAI, messages: [by('user', { type: 'other', text: 'hi', more: LONG })] },
  ],
  ['documents', CHAT, { ...OPENAI, messages: [HI], documents: [{ text: LONG }] }],
  ['names of fields', CHAT, { ...OPENAI, messages: [HI], documents: longNames() }],
  ['thoughts', GEMINI, parts('model', { text: LONG, thought: true })],
  ['code that ran', GEMINI, parts('model', { executableCode: { language: 'PYTHON', code: LONG } })],
  [
    'the plan of calls',
    COHERE,
    {
      model: 'cohere/command-a-03-2025',
      messages: [HI, { role: 'assistant', tool_plan: LONG, content: 'a' }, HI],
    },
  ],
  [
    'a file in the place of an image',
    CHAT,
    {
      ...{ model: 'gemini/gemini-2.5-pro', max_tokens: 100 },
      messages: [
        by('user', { type: 'image_url', image_url: { url: `data:text/plain;base64,${btoa(LONG)}` } }),
      ],
    },
  ],
  ['a suffix', '/openai/v1/completions', { model: COMPLETER, max_tokens: 9, prompt: 'a', suffix: LONG }],
]

function longNames(): object {
  return Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`${at} ${LONG.slice(0, 10_000)}`, '']))
}

const ADDRESSES: Case[] = [
  [
    'a document',
    MESSAGES,
    {
      ...ANTHROPIC,
      messages: [by('user', { type: 'document', source: { type: 'url', url: 'https://a/600p.pdf' } })],
    },
  ],
  [
    'a document of a store',
    MESSAGES,
    {
      ...ANTHROPIC,
      messages: [by('user', { type: 'document', source: { type: 'file', file_id: 'file_1' } })],
    },
  ],
  [
    'a file for a container',
    MESSAGES,
    { ...ANTHROPIC, messages: [by('user', { type: 'container_upload', file_id: 'file_1' })] },
  ],
  [
    'a file',
    RESPONSES,
    items({ role: 'user', content: [{ type: 'input_file', file_url: 'https://a/600p.pdf' }] }),
  ],
  ['a video', GEMINI, parts('user', { fileData: { fileUri: YOUTUBE } })],
  [
    'a video that is said to be an image',
    GEMINI,
    parts('user', { fileData: { fileUri: `${YOUTUBE}&a=.png`, mimeType: 'image/png' } }),
  ],
  [
    'audio',
    CHAT,
    {
      ...OPENAI,
      messages: [
        by('user', { type: 'input_audio', input_audio: { data: 'https://a/b.mp3', format: 'mp3' } }),
      ],
    },
  ],
  [
    'a video in the body',
    GEMINI,
    parts('user', { inlineData: { mimeType: 'video/mp4', data: 'AAAAHGZ0eXBtcDQy' } }),
  ],
  [
    'a video in the body as an image',
    CHAT,
    {
      ...OPENAI,
      messages: [by('user', { type: 'image_url', image_url: { url: 'data:video/mp4;base64,AAAA' } })],
    },
  ],
  [
    'what the provider keeps in place of a message',
    CHAT,
    { ...OPENAI, messages: [{ role: 'cache', content: 'cache_id=a' }, HI] },
  ],
  [
    'a file of the account in place of a message',
    CHAT,
    { ...OPENAI, messages: [by('system', { type: 'text', text: 'fileid://file-a' }), HI] },
  ],
  [
    'files of the account in place of a message',
    CHAT,
    { ...OPENAI, messages: [{ role: 'system', content: 'fileid://file-a,fileid://file-b' }, HI] },
  ],
  [
    'a video in a part that is not known',
    CHAT,
    { ...OPENAI, messages: [by('user', { type: 'video_url', video_url: { url: YOUTUBE } })] },
  ],
]

const shot = (type: string, output: unknown): object => items(HI, { type, call_id: 'c', output })
const IMAGE_URL = 'https://a.example/0.png'

const OUTPUTS: Case[] = [
  [
    'a screenshot by its address',
    RESPONSES,
    shot('computer_call_output', { type: 'computer_screenshot', image_url: IMAGE_URL }),
  ],
  [
    'an image by its address in the output of an unknown call',
    RESPONSES,
    shot('x_call_output', [{ type: 'input_image', image_url: { url: IMAGE_URL } }]),
  ],
  [
    'a file by another name of its address',
    RESPONSES,
    shot('x_call_output', [{ type: 'input_file', url: 'https://a.example/a.pdf' }]),
  ],
]

const ECHOED: Case[] = [
  [
    'a screenshot in the body, with the address of the page',
    RESPONSES,
    shot('computer_call_output', {
      type: 'computer_screenshot',
      image_url: `data:image/png;base64,${btoa('PNG')}`,
      current_url: 'https://a.example/',
    }),
  ],
  [
    'addresses that a shell printed',
    RESPONSES,
    shot('shell_call_output', [
      { stdout: IMAGE_URL, stderr: IMAGE_URL, outcome: { type: 'exit', exit_code: 0 } },
    ]),
  ],
  ['an address as the output of a tool', RESPONSES, shot('apply_patch_call_output', IMAGE_URL)],
]

const COMPACTED: Case = [
  'a conversation that the provider makes shorter first',
  MESSAGES,
  { ...ANTHROPIC, messages: [HI], context_management: { edits: [{ type: 'compact_20260112' }] } },
]
const ENLARGED: Case = [
  'an image with more pixels than usual',
  CHAT,
  {
    ...OPENAI,
    messages: [by('user', { type: 'image_url', image_url: { url: 'https://a/b.png' }, max_pixels: 9e6 })],
  },
]

const ORDINARY: Case[] = [
  [
    'a conversation of which parts are cleared',
    MESSAGES,
    { ...ANTHROPIC, messages: [HI], context_management: { edits: [{ type: 'clear_thinking_20251015' }] } },
  ],
  [
    'a table in the body',
    CHAT,
    {
      ...OPENAI,
      messages: [by('user', { type: 'file', file: { file_data: `data:text/csv;base64,${btoa('a,b\n')}` } })],
    },
  ],
  ['messages', MESSAGES, { ...ANTHROPIC, messages: [HI] }],
  ['responses', RESPONSES, items(HI)],
  ['chat completions', CHAT, { ...OPENAI, messages: [HI], metadata: { a: 'b'.repeat(500) } }],
  ['generateContent', GEMINI, parts('user', { text: 'https://a/b is an address' })],
  [
    'an image by its address',
    CHAT,
    { ...OPENAI, messages: [by('user', { type: 'image_url', image_url: { url: 'https://a/b.png' } })] },
  ],
  [
    'an image in the body',
    MESSAGES,
    {
      ...ANTHROPIC,
      messages: [
        by('user', {
          type: 'image',
          source: { type: 'base64', media_type: 'image/png', data: 'A'.repeat(400_000) },
        }),
      ],
    },
  ],
]

const ask = (route: string, body: object, key: string) => limited.ask(route, body, key)

describe('a key with max_request_cost_usd', () => {
  let key: string
  beforeAll(async () => {
    key = (await limited.app.createKey({ restrictions: { max_request_cost_usd: 0.02 } })).key
  })

  test.each(TEXTS)('is refused a request whose long text is %s, with 402: %s', async (_what, route, body) => {
    expect(await ask(route, body, key)).toMatchObject({ status: 402, wasSent: false })
  })

  test.each([...ADDRESSES, ...OUTPUTS, COMPACTED, ENLARGED])(
    'is refused %s, whose length is unknown, with 400: %s',
    async (_what, route, body) => {
      const answer = await ask(route, body, key)
      expect(answer).toMatchObject({ status: 400, wasSent: false })
      expect(answer.text).toContain('adds input that cannot be counted in advance')
    },
  )

  test.each([...ORDINARY, ...ECHOED])('may send %s: %s', async (_what, route, body) => {
    expect(await ask(route, body, key)).toMatchObject({ wasSent: true })
  })
})

test('a screenshot in an item that is not read counts as a window at most, however many bytes it has', async () => {
  const image_url = `data:image/png;base64,${'QUJD'.repeat(350_000)}`
  const shot = {
    type: 'computer_call_output',
    call_id: 'c',
    output: { type: 'computer_screenshot', image_url },
  }
  const body = { model: 'openai/gpt-4o', max_output_tokens: 100, input: [HI, shot] }
  // 128,000 tokens at $2.50 a million.
  const [enough, little] = [{ max_request_cost_usd: 0.4 }, { max_request_cost_usd: 0.3 }]
  const { key } = await limited.app.createKey({ restrictions: enough })
  expect(await ask(RESPONSES, body, key)).toMatchObject({ wasSent: true })
  const { key: poor } = await limited.app.createKey({ restrictions: little })
  expect(await ask(RESPONSES, body, poor)).toMatchObject({ status: 402, wasSent: false })
})

describe('audio at a model that has a price of its own for it', () => {
  /** The start of a FLAC file of an hour: 115,200 tokens at $1 a million. As text they would cost $0.035. */
  const hour = Buffer.alloc(42)
  hour.write('fLaC', 0, 'latin1')
  hour.writeUIntBE(8_000 * 16, 18, 3)
  hour.writeUInt32BE(8_000 * 3_600, 22)
  const inBody = parts('user', { inlineData: { mimeType: 'audio/flac', data: hour.toString('base64') } })
  const byAddress = parts('user', { fileData: { fileUri: 'https://a.example/b.mp3', mimeType: 'audio/mp3' } })

  test.each([
    [0.1, { status: 402, wasSent: false }],
    [0.13, { wasSent: true }],
  ])('counts at that price for max_request_cost_usd and a budget of $%d', async (usd, outcome) => {
    const { key } = await limited.app.createKey({ restrictions: { max_request_cost_usd: usd } })
    expect(await ask(GEMINI, inBody, key)).toMatchObject(outcome)
    const { key: withBudget } = await limited.freshKey(usd)
    expect(await ask(GEMINI, inBody, withBudget)).toMatchObject(outcome)
  })

  test.each([
    [0.9, { status: 402, wasSent: false }],
    [1.1, { wasSent: true }],
  ])(
    'of unknown length reserves a context window at that price from a budget of $%d',
    async (usd, outcome) => {
      const { key } = await limited.freshKey(usd)
      expect(await ask(GEMINI, byAddress, key)).toMatchObject(outcome)
    },
  )
})

describe('a budget', () => {
  test.each([...TEXTS, ...ADDRESSES, ...OUTPUTS, COMPACTED, ENLARGED])(
    'refuses %s with 402 if it cannot pay for it: %s',
    async (_what, route, body) => {
      const { key } = await limited.freshKey(0.02)
      expect(await ask(route, body, key)).toMatchObject({ status: 402, wasSent: false })
    },
  )

  test.each([...ORDINARY, ...ECHOED])('of the same amount pays for %s: %s', async (_what, route, body) => {
    const { key } = await limited.freshKey(0.02)
    expect(await ask(route, body, key)).toMatchObject({ wasSent: true })
  })
})

test('a client token has no reasoning for nothing either', async () => {
  const { app } = limited
  const token = await makePlaygroundToken(app)
  const scope = { scope: 'environment', scope_ref: app.developmentId }
  await limited.limit('budgets', { limit_usd: 0.02, window: 'month', ...scope })
  const body = { ...OPENAI, messages: [{ role: 'assistant', content: 'a', reasoning_content: LONG }, HI] }
  expect(await ask(CHAT, body, token)).toMatchObject({ status: 402, wasSent: false })
  await limited.reset()
})
