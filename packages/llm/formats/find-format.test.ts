import { describe, expect, test } from 'vitest'
import type { Provider } from '../provider/provider.ts'
import { custom } from '../providers/custom.ts'
import type { DialectId } from '../request/format-id.ts'
import type { FunctionTool } from '../request/tools.ts'
import { findDialectId } from './find-format.ts'
import { matchesAny } from './shared/model-pattern.ts'

// Ids that stand for themselves: only the rules are looked at here.
const OTHER = 'other' as DialectId
const THIRD = 'anthropic-messages' as DialectId
const provider: Provider = {
  ...custom,
  dialectRules: [
    { dialect: THIRD, when: 'same-format' },
    { dialect: OTHER, models: ['claude-*'] },
    { dialect: OTHER, models: ['thinker-*'], when: 'tools-with-reasoning' },
  ],
}
const tools: FunctionTool[] = [{ type: 'function', function: { name: 'now' } }]

describe('findDialectId', () => {
  test('without a rule that fits: the main format', () => {
    expect(findDialectId(custom, 'any', {}, 'openai-chat')).toBe('openai-chat')
    expect(findDialectId(provider, 'plain', { tools }, 'openai-chat')).toBe('openai-chat')
  })

  test('by the name of the model', () => {
    expect(findDialectId(provider, 'claude-x', {}, 'native')).toBe(OTHER)
    expect(findDialectId(provider, 'my-claude-x', {}, 'native')).toBe('openai-chat')
  })

  test('tools with reasoning: both have to be asked for', () => {
    const find = (request: Parameters<typeof findDialectId>[2]): DialectId =>
      findDialectId(provider, 'thinker-1', request, 'native')
    expect(find({ tools, reasoningEffort: 'low' })).toBe(OTHER)
    expect(find({ tools })).toBe('openai-chat')
    expect(find({ tools: [], reasoningEffort: 'low' })).toBe('openai-chat')
    expect(find({ reasoningEffort: 'low' })).toBe('openai-chat')
  })

  test('the same format as the caller: the first rule that fits decides', () => {
    expect(findDialectId(provider, 'claude-x', {}, 'anthropic-messages')).toBe(THIRD)
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
