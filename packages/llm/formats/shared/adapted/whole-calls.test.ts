import { expect, test } from 'vitest'
import type { ChatReply, FinishReason } from '../../../reply/chat-reply.ts'
import { encodeReply as encodeMessages } from '../../anthropic-messages/server/encode-reply.ts'
import { encodeReply as encodeConverse } from '../../bedrock-converse/server/encode-reply.ts'
import { encodeReply as encodeGemini } from '../../gemini-content/wire/encode-reply.ts'
import { encodeReply as encodeOllama } from '../../ollama-chat/server/encode-reply.ts'

const ENVELOPE = { id: 'r1', created: 0, model: 'p/m' }
const FORMATS = {
  'Anthropic messages': (reply: ChatReply) => encodeMessages(reply, ENVELOPE),
  Converse: (reply: ChatReply) => encodeConverse(reply, 0),
  Gemini: (reply: ChatReply) => encodeGemini(reply, ENVELOPE, { thoughts: true }),
  Ollama: (reply: ChatReply) => encodeOllama(reply, ENVELOPE, { firstMs: 0, totalMs: 0 }),
}
const call = (name: string, args: string) => ({
  id: name,
  type: 'function' as const,
  function: { name, arguments: args },
})
const reply = (finishReason: FinishReason): ChatReply => ({
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: 'text',
        tool_calls: [call('whole', '{"a":1}'), call('partial', '{"path":"/tm')],
      },
      finishReason,
    },
  ],
  usage: undefined,
})

test.each(Object.entries(FORMATS))(
  '%s: an answer that the cap cut has its whole calls only, as one without arguments would be another call',
  (_, encode) => {
    const text = JSON.stringify(encode(reply('length')))
    expect(text).toContain('whole')
    expect(text).not.toContain('partial')
  },
)

test.each(Object.entries(FORMATS))('%s: a complete answer has every call', (_, encode) => {
  const text = JSON.stringify(encode(reply('tool_calls')))
  expect(text).toContain('whole')
  expect(text).toContain('partial')
})
