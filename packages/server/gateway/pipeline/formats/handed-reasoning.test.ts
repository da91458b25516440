import { packToolCallId } from '@rideau/llm/formats/shared/reasoning/reasoning-carrier'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  chunk,
  DONE,
  json,
  openScriptedUpstream,
  type ScriptedUpstream,
  stream,
  usageChunk,
} from '../../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../../testing/harness/app.ts'

let app: TestApp
let upstream: ScriptedUpstream

beforeAll(async () => {
  app = await openTestApp()
  upstream = await openScriptedUpstream()
  for (const provider of ['openrouter', 'groq', 'custom']) {
    await app.addCredential(provider, { api_key: 'sk-of-the-tenant', base_url: upstream.baseUrl })
  }
})

afterAll(async () => {
  await upstream.close()
  await app.close()
})

const PIECE = { type: 'reasoning.text', format: 'anthropic-claude-v1', index: 0 }
const DETAIL = { ...PIECE, text: 'I had better look.', signature: 'Eq+/=' }
const MARKED = { ...DETAIL, via: 'openrouter' }
const CALL = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } }
const QUESTION = { role: 'user', content: 'What is there?' }
const PLAIN = {
  id: 'gen-1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  provider: 'Anthropic',
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: null,
        reasoning: DETAIL.text,
        reasoning_details: [DETAIL],
        tool_calls: [CALL],
        annotations: ['kept'],
      },
      native_finish_reason: 'tool_use',
      finish_reason: 'tool_calls',
    },
  ],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
}
const STREAM = [
  chunk({ role: 'assistant', content: '' }),
  chunk({ reasoning: 'I had ', reasoning_details: [{ ...PIECE, text: 'I had ' }] }),
  chunk({ reasoning: 'better look.', reasoning_details: [{ ...PIECE, text: 'better look.' }] }),
  chunk({ reasoning_details: [{ ...PIECE, signature: 'Eq+/=' }] }),
  chunk({ tool_calls: [{ index: 0, ...CALL }] }),
  chunk({}, 'tool_calls'),
  usageChunk(),
  DONE,
]
const PACKED = packToolCallId('call_1', [
  {
    type: 'reasoning.text',
    format: DETAIL.format,
    text: DETAIL.text,
    signature: DETAIL.signature,
    index: 0,
    via: 'openrouter',
  },
])

interface AssistantMessage {
  readonly id: string
  readonly details: unknown
  readonly message: any
}

/** Returns the assistant message of a plain answer, in the fields of OpenAI's chat format. */
async function plainMessage(route: string): Promise<AssistantMessage> {
  upstream.script(json(200, PLAIN))
  const response = await app.call(route, { model: 'openrouter/anthropic/claude-x', messages: [QUESTION] })
  const { message } = ((await response.json()) as any).choices[0]
  return { id: message.tool_calls[0].id, details: message.reasoning_details, message }
}

async function streamedMessage(route: string): Promise<AssistantMessage> {
  upstream.script(stream(...STREAM))
  const response = await app.call(route, {
    model: 'openrouter/anthropic/claude-x',
    messages: [QUESTION],
    stream: true,
  })
  const deltas = (await response.text())
    .split('\n')
    .filter(line => line.startsWith('data: {'))
    .flatMap(line => JSON.parse(line.slice(6)).choices as any[])
    .map(choice => choice.delta)
  const details: Record<string, unknown>[] = []
  // Joins the pieces of each index and concatenates their texts, as clients of this field do.
  for (const piece of deltas.flatMap(delta => delta.reasoning_details ?? [])) {
    const known = details.find(({ index }) => index === piece.index)
    if (known === undefined) details.push({ ...piece })
    else Object.assign(known, piece, { text: `${known.text ?? ''}${piece.text ?? ''}` })
  }
  const call = deltas.flatMap(delta => delta.tool_calls ?? [])[0]
  return { id: call.id, details, message: undefined }
}

async function replay(route: string, model: string, message: Record<string, unknown>): Promise<any> {
  upstream.script(json(200, PLAIN))
  const messages = [QUESTION, message, { role: 'tool', tool_call_id: PACKED, content: 'A cat.' }]
  const response = await app.call(route, { model, messages })
  expect(response.status).toBe(200)
  return upstream.requests.at(-1)?.body.messages
}

describe.each(['/v1/chat', '/openai/v1/chat/completions'])('%s', route => {
  test.each([
    ['plain', plainMessage],
    ['streamed', streamedMessage],
  ])(
    "%s: marks a provider's reasoning, and carries it in the id of the call that it led to",
    async (_, ask) => {
      const { id, details } = await ask(route)
      expect(id).toBe(PACKED)
      expect(details).toEqual([MARKED])
    },
  )

  test('restores it for its provider, from clients that keep all fields or only standard ones', async () => {
    const original = { role: 'assistant', content: null, tool_calls: [{ ...CALL, id: PACKED }] }
    for (const sent of [original, { ...original, reasoning_details: [MARKED] }]) {
      const [, message, result] = await replay(route, 'openrouter/anthropic/claude-x', sent)
      expect(message).toEqual({
        role: 'assistant',
        content: null,
        tool_calls: [CALL],
        reasoning_details: [DETAIL],
      })
      expect(result.tool_call_id).toBe('call_1')
    }
  })

  test('never sends it to another provider of the same format', async () => {
    const original = { role: 'assistant', content: null, tool_calls: [{ ...CALL, id: PACKED }] }
    for (const details of [{}, { reasoning_details: [MARKED] }]) {
      const [, message] = await replay(route, 'groq/llama-3.3-70b-versatile', { ...original, ...details })
      expect(message).toEqual({ role: 'assistant', content: null, tool_calls: [CALL] })
    }
  })
})

test('keeps other fields of the provider when a body passes unchanged', async () => {
  const { message } = await plainMessage('/openai/v1/chat/completions')
  expect(message).toEqual({
    ...PLAIN.choices[0]?.message,
    reasoning_details: [MARKED],
    tool_calls: [{ ...CALL, id: PACKED }],
  })
})

test("carries it in the call's id for a caller of Anthropic's format, and restores it from there", async () => {
  upstream.script(json(200, PLAIN))
  const asked = { model: 'openrouter/anthropic/claude-x', max_tokens: 100 }
  const response = await app.call('/anthropic/v1/messages', { ...asked, messages: [QUESTION] })
  const { content } = (await response.json()) as any
  const use = content.find(({ type }: any) => type === 'tool_use')
  expect(use.id).toBe(PACKED)
  const result = { type: 'tool_result', tool_use_id: use.id, content: 'A cat.' }
  const messages = [QUESTION, { role: 'assistant', content }, { role: 'user', content: [result] }]
  expect((await app.call('/anthropic/v1/messages', { ...asked, messages })).status).toBe(200)
  expect((upstream.requests.at(-1)?.body.messages as any[])[1]).toMatchObject({
    tool_calls: [CALL],
    reasoning_details: [DETAIL],
  })
})

test('carries it in the reasoning item for a caller of the Responses format', async () => {
  upstream.script(json(200, PLAIN))
  const asked = { model: 'custom/m' }
  const first = await app.call('/openai/v1/responses', { ...asked, input: [QUESTION] })
  const { output } = (await first.json()) as any
  const call = output.find(({ type }: any) => type === 'function_call')
  const result = { type: 'function_call_output', call_id: call.call_id, output: 'A cat.' }
  const input = [QUESTION, ...output, result]
  expect((await app.call('/openai/v1/responses', { ...asked, input })).status).toBe(200)
  expect((upstream.requests.at(-1)?.body.messages as any[])[1]).toMatchObject({
    tool_calls: [CALL],
    reasoning_details: [DETAIL],
  })
})
