import { describe, expect, test } from 'vitest'
import { scanJson } from '../../../json/json-scan.ts'
import type { Json, JsonObject } from '../../../json/json-value.ts'
import type { Provider } from '../../../provider/provider.ts'
import { findProvider } from '../../../providers/index.ts'
import type { Message } from '../../../request/message.ts'
import { findForbidden, type OutgoingBody } from '../../../upstream/outgoing-body.ts'
import type { EncodedRequest } from '../../../upstream/upstream-request.ts'
import { encodeRequest } from './encode-request.ts'

function encode(
  providerId: string,
  model: string,
  given: JsonObject,
  maxOutputTokens: number,
): EncodedRequest {
  const messages: Message[] = [{ role: 'user', content: 'hi' }]
  const bytes = Buffer.from(JSON.stringify({ model, messages, ...given }))
  const scan = scanJson(bytes)
  if (!scan.ok) throw new Error(scan.reason)
  const source = { format: 'openai-chat', bytes, value: scan.value as JsonObject, fields: scan.fields }
  const provider = findProvider(providerId) as Provider
  const target = { provider, model, baseUrl: 'https://api.example.com/v1', apiKey: 'k' }
  return encodeRequest(
    { model, messages, stream: false, includeUsage: false, maxOutputTokens },
    target,
    source,
  )
}

describe('the output cap of a provider whose reasoning lies outside it', () => {
  const sendTo = (model: string, fields: JsonObject, cap = 100): JsonObject => {
    const { body } = encode('alibaba', model, fields, cap)
    const { thinking_budget, max_tokens, max_completion_tokens } = JSON.parse(body.toString())
    return JSON.parse(JSON.stringify({ thinking_budget, max_tokens, max_completion_tokens }))
  }

  test('is divided between both where reasoning is asked for', () => {
    const asked = { enable_thinking: true }
    expect(sendTo('qwen-plus', asked)).toEqual({ thinking_budget: 50, max_tokens: 50 })
    for (const alike of ['true', 1]) {
      const asks = { enable_thinking: alike }
      expect(sendTo('qwen-plus', asks)).toEqual({ thinking_budget: 50, max_tokens: 50 })
    }
    expect(sendTo('qwen-plus', { thinking_budget: 81_920 })).toEqual({ thinking_budget: 50, max_tokens: 50 })
    expect(sendTo('qwen-plus', { ...asked, thinking_budget: 10 })).toEqual({
      thinking_budget: 10,
      max_tokens: 90,
    })
    expect(sendTo('qwen-plus', { ...asked, thinking_budget: 81_920 }, 1)).toEqual({
      thinking_budget: 1,
      max_tokens: 1,
    })
  })

  test('is divided unasked for a model that may reason unasked', () => {
    expect(sendTo('qwen3-8b', {})).toEqual({ thinking_budget: 50, max_tokens: 50 })
    expect(sendTo('qwen3-8b', { enable_thinking: false })).toEqual({ max_tokens: 100 })
  })

  test('stays whole without reasoning, and for a model with one cap for both', () => {
    expect(sendTo('qwen-plus', {})).toEqual({ max_tokens: 100 })
    expect(sendTo('qwen-plus', { enable_thinking: false })).toEqual({ max_tokens: 100 })
    expect(sendTo('qwen-plus', { enable_thinking: null })).toEqual({ max_tokens: 100 })
    expect(sendTo('qwen3-coder-30b-a3b-instruct', {})).toEqual({ max_tokens: 100 })
    expect(sendTo('qwen3.7-max', { enable_thinking: true })).toEqual({ max_completion_tokens: 100 })
  })
})

test('no budget of reasoning is larger than the output cap', () => {
  const budgetOf = ({ body }: EncodedRequest): Json => JSON.parse(body.toString()).thinking_budget
  expect(budgetOf(encode('custom', 'm', { thinking_budget: 101 }, 100))).toBe(50)
  expect(budgetOf(encode('custom', 'm', { thinking_budget: 100 }, 100))).toBe(100)
  const { content } = encode('custom', 'm', { thinking_budget: '2' }, 1)
  const granted = {
    sender: 'key',
    isStream: false,
    choices: 1,
    maxOutputTokens: 1,
    addresses: 'any',
  } as const
  expect(findForbidden(content as OutgoingBody, { ...granted, model: 'm' })).toBe('thinking_budget')
})
