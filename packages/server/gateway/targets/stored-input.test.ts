import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { messageItem, responseOf } from '../../testing/fakes/scripted-responses.ts'
import { completion } from '../../testing/fakes/scripted-upstream.ts'
import { type LimitedApp, openLimitedApp } from '../../testing/harness/limited-app.ts'

/** Input that a provider adds from what it keeps has any length: it reserves the context window, or a key's bound refuses it. */

let limited: LimitedApp
beforeAll(async () => {
  limited = await openLimitedApp()
  await limited.addCredentials('openai', 'anthropic')
})
afterAll(() => limited.close())

const CHAT = '/openai/v1/chat/completions'
const RESPONSES = '/openai/v1/responses'
const HI = { role: 'user', content: 'hi' }

type Case = [string, string, object]

const items = (...input: object[]): object => ({
  model: 'openai/gpt-5',
  max_output_tokens: 100,
  input: [...input, HI],
})
const part = (of: object): object => ({
  model: 'openai/gpt-4o',
  max_tokens: 100,
  messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }, of] }],
})

const REASONING: Case[] = [
  ['a reference to reasoning', RESPONSES, items({ type: 'item_reference', id: 'rs_1' })],
  ['reasoning by its id alone', RESPONSES, items({ type: 'reasoning', id: 'rs_1', summary: [] })],
  [
    'an image that was made, by its id alone',
    RESPONSES,
    items({ type: 'image_generation_call', id: 'ig_1' }),
  ],
]

const STORED: Case[] = [
  ...REASONING,
  ['an earlier answer', RESPONSES, { ...items(), previous_response_id: 'resp_1' }],
  ['a conversation', RESPONSES, { ...items(), conversation: 'conv_1' }],
  ['a reference to a message', RESPONSES, items({ type: 'item_reference', id: 'msg_1' })],
  ['a file', RESPONSES, items({ role: 'user', content: [{ type: 'input_file', file_id: 'file-1' }] })],
]

const FILES: Case[] = [
  ['the place of an image', CHAT, part({ type: 'image_url', image_url: { url: 'fileid://file-1' } })],
  [
    'the place of an image without an object',
    CHAT,
    part({ type: 'image_url', image_url: 'FileID://file-1' }),
  ],
  [
    'the place of an image, behind a character that is not seen',
    CHAT,
    part({ type: 'image_url', image_url: { url: '\u200bfileid\u200b://file-1' } }),
  ],
  ['the place of a file', CHAT, part({ type: 'file', file: { file_data: '\u200bfileid://file-1' } })],
  [
    'an image of Responses',
    RESPONSES,
    items({ role: 'user', content: [{ type: 'input_image', image_url: 'fileid://file-1' }] }),
  ],
]

const ORDINARY: Case[] = [
  [
    'an image by its address',
    CHAT,
    part({ type: 'image_url', image_url: { url: 'https://a.example/?fileid=1' } }),
  ],
  ['a sentence', CHAT, part({ type: 'text', text: 'What does fileid://x mean?' })],
  [
    'reasoning that is in the body',
    RESPONSES,
    items({ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAA' }),
  ],
]

function answer(route: string): void {
  limited.upstream.script(route === CHAT ? completion('hi') : responseOf(messageItem('hi')))
}

describe('a budget', () => {
  test.each([...STORED, ...FILES])(
    'that cannot pay for the context window refuses %s with 402: %s',
    async (_, route, body) => {
      const { key } = await limited.freshKey(0.02)
      expect(await limited.ask(route, body, key)).toMatchObject({ status: 402, wasSent: false })
    },
  )

  test.each([...STORED, ...FILES])(
    'that pays for the context window lets %s pass: %s',
    async (_, route, body) => {
      answer(route)
      const { key } = await limited.freshKey(1)
      expect(await limited.ask(route, body, key)).toMatchObject({ wasSent: true })
    },
  )

  test.each(ORDINARY)('of less pays for %s: %s', async (_, route, body) => {
    answer(route)
    const { key } = await limited.freshKey(0.02)
    expect(await limited.ask(route, body, key)).toMatchObject({ wasSent: true })
  })

  test('pays for a reference to reasoning at a target of another format, which is asked without it', async () => {
    const { key } = await limited.freshKey(0.02)
    const body = { ...items({ type: 'item_reference', id: 'rs_1' }), model: 'anthropic/claude-sonnet-4-5' }
    expect(await limited.ask(RESPONSES, body, key)).toMatchObject({ wasSent: true })
  })
})

describe('a key with max_request_cost_usd', () => {
  let key: string
  beforeAll(async () => {
    key = (await limited.app.createKey({ restrictions: { max_request_cost_usd: 1 } })).key
  })

  test.each([...STORED, ...FILES])(
    'is refused %s with 400, whatever its bound pays for: %s',
    async (_, route, body) => {
      expect(await limited.ask(route, body, key)).toMatchObject({ status: 400, wasSent: false })
    },
  )

  test.each(ORDINARY)('may send %s: %s', async (_, route, body) => {
    answer(route)
    expect(await limited.ask(route, body, key)).toMatchObject({ wasSent: true })
  })
})
