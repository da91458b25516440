import { expect, test } from 'vitest'
import { findProvider } from '../../../providers/index.ts'
import { fitEffort } from './fit-effort.ts'

function fit(effort: string, provider: string, id: string): string | undefined {
  const known = findProvider(provider)
  if (known === undefined) throw new Error(`there is no provider ${provider}`)
  return fitEffort(
    effort,
    known,
    known.catalog?.models.find(model => model.id === id),
  )
}

test.each([
  ['an effort that the model lists', 'xhigh', 'openai', 'gpt-5.5', 'xhigh'],
  ['an effort above the highest', 'max', 'openai', 'gpt-5.5', 'xhigh'],
  ['an effort above the highest', 'xhigh', 'openai', 'gpt-5', 'high'],
  ['an effort between two', 'xhigh', 'deepseek', 'deepseek-v4-pro', 'high'],
  ['the highest effort', 'max', 'deepseek', 'deepseek-v4-pro', 'max'],
  ['the highest effort at a model without levels', 'max', 'groq', 'qwen/qwen3-32b', 'high'],
  ['the highest effort at an unknown model', 'max', 'custom', 'mine', 'high'],
  ['no reasoning, which the model lists', 'none', 'openai', 'gpt-5.5', 'none'],
  ['no reasoning, for which the provider has words', 'none', 'zai', 'glm-5.2', 'none'],
  ['no reasoning, which the model does not list', 'none', 'openai', 'gpt-5', 'minimal'],
  ['no reasoning, which the model does not list', 'none', 'openai', 'o3', 'low'],
  ['no reasoning at a model that always reasons', 'none', 'moonshot', 'kimi-k2.7-code', undefined],
  ['no reasoning at a model that always reasons', 'none', 'alibaba', 'qwq-plus', undefined],
  [
    'no reasoning at OpenRouter, which does not list it',
    'none',
    'openrouter',
    'anthropic/claude-opus-4.5',
    undefined,
  ],
  ['no reasoning at an unknown model', 'none', 'custom', 'mine', undefined],
  ['a usual effort', 'medium', 'openai', 'gpt-5-pro', 'medium'],
])('%s: %s becomes at %s %s the effort %s', (_, effort, provider, model, expected) => {
  expect(fit(effort, provider, model)).toBe(expected)
})
