import { expect, test } from 'vitest'
import type { JsonObject } from '../../../json/json-value.ts'
import { custom } from '../../../providers/custom.ts'
import { BILL, toReplyContext } from '../../../testing/reply-context.ts'
import { decodeReply } from '../client/decode-reply.ts'
import { openStream } from '../client/decode-stream.ts'
import { openAiChatServer } from './server.ts'

/** Usage of a provider of the same format, which passes through. */

const target = { provider: custom, model: 'm', baseUrl: 'https://x/v1', apiKey: '' }
const CONTEXT = toReplyContext({ model: 'custom/m', provider: 'custom', format: 'openai-chat' })

function pass(usage: JsonObject): JsonObject {
  const body: JsonObject = {
    id: 'a',
    choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
    usage,
  }
  const bytes = Buffer.from(JSON.stringify(body))
  const reply = decodeReply(body, target)
  const sent = openAiChatServer.encodeReply(CONTEXT, { bytes, body, reply }, BILL)
  return JSON.parse(sent.toString()).usage
}

function passStreamed(usage: JsonObject): JsonObject {
  const encoder = openAiChatServer.openStream(CONTEXT)
  const decoder = openStream(target)
  const data = JSON.stringify({ id: 'a', choices: [], usage })
  const sent = encoder.encode(decoder.decode(data), { data, raw: `data: ${data}\n\n` } as never)
  return JSON.parse(sent.toString().slice('data: '.length)).usage
}

test.each<[string, JsonObject, JsonObject]>([
  [
    'reasoning beside the completion is counted in it',
    {
      prompt_tokens: 10,
      completion_tokens: 9,
      total_tokens: 88,
      completion_tokens_details: { reasoning_tokens: 69 },
      cost: 0.5,
    },
    {
      prompt_tokens: 10,
      completion_tokens: 78,
      total_tokens: 88,
      completion_tokens_details: { reasoning_tokens: 69 },
      cost: 0.5,
    },
  ],
  [
    'cached input beside the prompt is counted in it',
    {
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 105,
      prompt_tokens_details: { cached_tokens: 90, image_tokens: 3 },
    },
    {
      prompt_tokens: 100,
      completion_tokens: 5,
      total_tokens: 105,
      prompt_tokens_details: { cached_tokens: 90, image_tokens: 3 },
    },
  ],
])('%s', (_, given, expected) => {
  expect(pass(given)).toMatchObject(expected)
  expect(passStreamed(given)).toMatchObject(expected)
})

test("usage by OpenAI's arithmetic passes unchanged", () => {
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, queue_time: 0.1 }
  expect(pass(usage)).toEqual(usage)
  expect(passStreamed(usage)).toEqual(usage)
})
