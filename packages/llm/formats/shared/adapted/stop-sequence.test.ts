import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../json/json-value.ts'
import type { Provider } from '../../../provider/provider.ts'
import { findProvider } from '../../../providers/index.ts'
import type { Target } from '../../../upstream/target.ts'
import type { Usage } from '../../../usage/usage.ts'
import { anthropicMessages } from '../../anthropic-messages/client/client.ts'
import { encodeReply as encodeMessage } from '../../anthropic-messages/server/encode-reply.ts'
import { MessageEncoder } from '../../anthropic-messages/server/encode-stream.ts'
import { bedrockConverse } from '../../bedrock-converse/client/client.ts'
import { encodeReply as encodeConverse } from '../../bedrock-converse/server/encode-reply.ts'
import { ConverseEncoder } from '../../bedrock-converse/server/encode-stream.ts'
import type { ClientFormat } from '../client-format.ts'

/** That a stop sequence ended an answer is told between the formats that have a reason of its own for it. */

const ENVELOPE = { id: 'msg_1', created: 0, model: 'm' }
const USAGE: Usage = { uncachedInput: 1, cacheRead: 0, cacheWrite: 0, output: 1, reasoning: 0 }
const toTarget = (provider: string): Target => ({
  provider: findProvider(provider) as Provider,
  model: 'm',
  baseUrl: 'https://a.example',
  apiKey: '',
})

const decode = (format: ClientFormat, provider: string, body: JsonObject) =>
  format.decodeReply(body, toTarget(provider))
const decodeStream = (format: ClientFormat, provider: string, frames: readonly [string, JsonObject][]) => {
  const decoder = format.openStream(toTarget(provider))
  return frames.flatMap(([event, body]) => [...decoder.decode(JSON.stringify(body), event)])
}

const content = [{ type: 'text', text: 'a' }]
const stopped = { stop_reason: 'stop_sequence', stop_sequence: 'END' }

describe('from Anthropic', () => {
  test('plain', () => {
    const reply = decode(anthropicMessages, 'anthropic', { content, ...stopped })
    expect(encodeConverse(reply, 0)).toMatchObject({ stopReason: 'stop_sequence' })
    expect(encodeMessage(reply, ENVELOPE)).toMatchObject(stopped)
    expect(decode(anthropicMessages, 'anthropic', { content, stop_reason: 'end_turn' }).choices[0]).toEqual({
      index: 0,
      message: { role: 'assistant', content: 'a' },
      finishReason: 'stop',
    })
  })

  test('streamed', () => {
    const events = decodeStream(anthropicMessages, 'anthropic', [
      ['', { type: 'message_delta', delta: stopped }],
    ])
    const encoder = new ConverseEncoder()
    for (const event of events) encoder.encode(event)
    expect(encoder.finish('stop', USAGE, 0)).toContainEqual({
      type: 'messageStop',
      body: { stopReason: 'stop_sequence' },
    })
  })
})

describe('from Converse, which does not name the sequence', () => {
  test('plain', () => {
    const body = { output: { message: { content: [{ text: 'a' }] } }, stopReason: 'stop_sequence' }
    const reply = decode(bedrockConverse, 'bedrock', body)
    expect(encodeMessage(reply, ENVELOPE)).toMatchObject({
      stop_reason: 'stop_sequence',
      stop_sequence: null,
    })
    expect(encodeConverse(reply, 0)).toMatchObject({ stopReason: 'stop_sequence' })
  })

  test('streamed', () => {
    const events = decodeStream(bedrockConverse, 'bedrock', [
      ['messageStop', { stopReason: 'stop_sequence' }],
    ])
    const encoder = new MessageEncoder(ENVELOPE)
    for (const event of events) encoder.encode(event)
    expect(encoder.finish('stop', USAGE)).toMatchObject([
      { type: 'message_delta', delta: { stop_reason: 'stop_sequence', stop_sequence: null } },
      { type: 'message_stop' },
    ])
  })

  test('not where the gateway cut the answer', () => {
    const encoder = new MessageEncoder(ENVELOPE)
    encoder.encode({ type: 'delta', index: 0, finishReason: 'stop', stopSequence: '' })
    expect(encoder.finish('length', USAGE)[0]).toMatchObject({ delta: { stop_reason: 'max_tokens' } })
  })
})
