import { expect, test } from 'vitest'
import type { Model } from '../../../sdk/index.ts'
import { findFirstModel, groupChatModels } from './chat-models.ts'

const toModel = (id: string, capabilities: readonly string[], kind: Model['kind'] = 'model'): Model => ({
  id,
  object: 'model',
  kind,
  provider: kind === 'alias' ? null : (id.split('/')[0] ?? null),
  display_name: null,
  context_window: null,
  max_output_tokens: null,
  capabilities,
  pricing: null,
  targets: null,
})
const EMBEDDINGS = toModel('groq/embeddings', ['embeddings'])
const GPT = toModel('openai/gpt', ['chat'])
const CLAUDE = toModel('anthropic/claude', ['chat', 'tools'])

test('lists aliases first, then the chat models of each provider by name', () => {
  expect(groupChatModels([GPT, EMBEDDINGS, CLAUDE, toModel('fast', ['chat'], 'alias')])).toEqual([
    ['Aliases', ['fast']],
    ['anthropic', ['anthropic/claude']],
    ['openai', ['openai/gpt']],
  ])
})

test('development begins with the sandbox, production with its first chat model', () => {
  expect(findFirstModel('development', [GPT])).toBe('sandbox/echo')
  expect(findFirstModel('production', [GPT, EMBEDDINGS, CLAUDE])).toBe('anthropic/claude')
  expect(findFirstModel('production', [toModel('search', ['embeddings'], 'alias'), GPT])).toBe('openai/gpt')
})

test('production without a chat model begins with none', () => {
  expect(findFirstModel('production', [EMBEDDINGS])).toBeUndefined()
  expect(findFirstModel('production', undefined)).toBeUndefined()
})
