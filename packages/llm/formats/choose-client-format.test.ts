import { describe, expect, test } from 'vitest'
import type { Provider } from '../provider/provider.ts'
import { custom } from '../providers/custom.ts'
import type { ClientFormatId } from '../request/format-id.ts'
import type { FunctionTool } from '../request/tools.ts'
import { chooseClientFormatId } from './choose-client-format.ts'
import { matchesAny } from './shared/reading/model-pattern.ts'

// Ids that stand for themselves: only the rules are looked at here.
const OTHER = 'other' as ClientFormatId
const THIRD = 'anthropic-messages' as ClientFormatId
const provider: Provider = {
  ...custom,
  formatRules: [
    { format: THIRD, when: 'same-format' },
    { format: OTHER, models: ['claude-*'] },
    { format: OTHER, models: ['thinker-*'], when: 'tools-with-reasoning' },
    { format: OTHER, models: ['eager-*'], when: 'tools-unless-none' },
    { format: OTHER, models: ['caller-*'], when: 'tools' },
  ],
}
const tools: FunctionTool[] = [{ type: 'function', function: { name: 'now' } }]

describe('chooseClientFormatId', () => {
  test('without a rule that fits: the main format', () => {
    expect(chooseClientFormatId(custom, 'any', {}, 'openai-chat')).toBe('openai-chat')
    expect(chooseClientFormatId(provider, 'plain', { tools }, 'openai-chat')).toBe('openai-chat')
  })

  test('by the name of the model', () => {
    expect(chooseClientFormatId(provider, 'claude-x', {}, 'native')).toBe(OTHER)
    expect(chooseClientFormatId(provider, 'my-claude-x', {}, 'native')).toBe('openai-chat')
  })

  test('tools with reasoning: both have to be asked for', () => {
    const find = (request: Parameters<typeof chooseClientFormatId>[2]): ClientFormatId =>
      chooseClientFormatId(provider, 'thinker-1', request, 'native')
    expect(find({ tools, reasoningEffort: 'low' })).toBe(OTHER)
    expect(find({ tools })).toBe('openai-chat')
    expect(find({ tools, reasoningEffort: 'none' })).toBe('openai-chat')
    expect(find({ tools: [], reasoningEffort: 'low' })).toBe('openai-chat')
    expect(find({ reasoningEffort: 'low' })).toBe('openai-chat')
  })

  test('tools: with whatever effort, or unless it is none', () => {
    const find = (model: string, request: Parameters<typeof chooseClientFormatId>[2]): ClientFormatId =>
      chooseClientFormatId(provider, model, request, 'native')
    for (const model of ['eager-1', 'caller-1']) {
      expect(find(model, { tools })).toBe(OTHER)
      expect(find(model, { tools, reasoningEffort: 'low' })).toBe(OTHER)
      expect(find(model, { tools: [], reasoningEffort: 'low' })).toBe('openai-chat')
      expect(find(model, {})).toBe('openai-chat')
    }
    expect(find('eager-1', { tools, reasoningEffort: 'none' })).toBe('openai-chat')
    expect(find('caller-1', { tools, reasoningEffort: 'none' })).toBe(OTHER)
  })

  test('the same format as the caller: the first rule that fits decides', () => {
    expect(chooseClientFormatId(provider, 'claude-x', {}, 'anthropic-messages')).toBe(THIRD)
  })
})

test.each([
  ['a', 'a', true],
  ['ab', 'a', false],
  ['ab', 'a*', true],
  ['a', 'a*', true],
  ['ba', 'a*', false],
  ['gpt-5-codex-mini', '*-codex*', true],
  ['gpt-5', '*-codex*', false],
  ['aba', 'ab*ba', false],
  ['a-x-b-x-c', 'a*x*x*c', true],
  ['a-x-c', 'a*x*x*c', false],
  ['anything', '*', true],
  ['', '*', true],
])('%s is matched by %s: %s', (name, pattern, expected) => {
  expect(matchesAny(name, [pattern])).toBe(expected)
})
