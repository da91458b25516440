import { expect, test } from 'vitest'
import { toSourceBody } from '../../../testing/recorded-requests.ts'
import { encodeMessages } from '../client/encode-messages.ts'
import { parseRequest } from './parse-request.ts'

/** More than the arguments that fit on the stack. The bounds of a body allow about half as many blocks. */
const COUNT = 200_000

test('parses and encodes 200,000 blocks in the instructions, a document, a search result and a message', () => {
  const texts = Array.from({ length: COUNT }, () => ({ type: 'text', text: 'a' }))
  const document = { type: 'document', source: { type: 'content', content: texts } }
  const content = [document, { type: 'search_result', content: texts }]
  const body = {
    model: 'm',
    max_tokens: 1,
    system: [{ type: 'text', text: 'a', cache_control: { type: 'ephemeral' } }, ...texts],
    messages: [
      { role: 'user', content },
      {
        role: 'user',
        content: [...texts, { type: 'image', source: { type: 'url', url: 'https://a.example' } }],
      },
    ],
  }
  const source = toSourceBody('anthropic-messages', {})
  const { messages } = parseRequest(body, { source, pathModel: '', isEndUser: true }).request
  expect(messages[1]?.content).toHaveLength(2 * (2 * COUNT) - 1)
  const encoded = encodeMessages(messages)
  expect(encoded.messages[0]?.content).toHaveLength(COUNT + 2)
  expect(encoded.system).toHaveLength(COUNT + 1)
})
