import { expect, test } from 'vitest'
import { gemini } from '../../../providers/gemini.ts'
import { decodeReply } from './decode-reply.ts'

test('leaves out a candidate that failed, and keeps those before and after it', () => {
  const target = { provider: gemini, model: 'm', baseUrl: 'https://a.example/v1beta', apiKey: 'k' }
  const candidate = (index: number, finishReason: string): object => ({
    index,
    content: { parts: [{ text: `answer ${index}` }] },
    finishReason,
  })
  const candidates = [candidate(0, 'STOP'), candidate(1, 'MALFORMED_FUNCTION_CALL'), candidate(2, 'STOP')]
  const { choices } = decodeReply(JSON.parse(JSON.stringify({ candidates })), target)
  expect(choices.map(({ message }) => message.content)).toEqual(['answer 0', 'answer 2'])
})
