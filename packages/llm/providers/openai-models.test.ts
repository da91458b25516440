import { expect, test } from 'vitest'
import { openAiChat } from '../formats/openai-chat/client/client.ts'
import type { ChatRequest } from '../request/chat-request.ts'
import { openai } from './openai.ts'

const REQUEST: ChatRequest = {
  model: 'x',
  messages: [{ role: 'user', content: 'hi' }],
  stream: false,
  includeUsage: true,
  stop: ['END'],
  temperature: 0.5,
}

test.each([
  ['o3-mini', ['temperature']],
  ['o3-mini-2025-01-31', ['temperature']],
  ['o3', ['temperature', 'stop']],
  ['o4-mini', ['temperature', 'stop']],
  ['gpt-4o-mini', []],
])('%s does not take %j', (model, expected) => {
  expect([...openAiChat.findUnsupportedParams(REQUEST, openai, model)].sort()).toEqual([...expected].sort())
})
