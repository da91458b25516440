import type { Provider } from '@rideau/llm/provider/provider'
import { findProvider } from '@rideau/llm/providers/index'
import { expect, test } from 'vitest'
import { ONE_ANSWER, toGrant } from './to-grant.ts'

test.each([
  ['openai', 'https://api.openai.com/v1', true],
  ['openai', 'https://models.example/v1', false],
  ['alibaba', 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1', false],
  ['custom', 'https://models.example/v1', false],
])(
  'whether texts are texts alone is known of a provider at its own address: %s at %s',
  (id, baseUrl, isKnown) => {
    const target = { provider: findProvider(id) as Provider, model: 'm', baseUrl, apiKey: 'k' }
    expect(toGrant('end_user', target, ONE_ANSWER).hasPlainTexts).toBe(isKnown)
  },
)
