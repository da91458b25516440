import { describe, expect, test } from 'vitest'
import { scanJson } from '../../../json/json-scan.ts'
import type { JsonObject } from '../../../json/json-value.ts'
import { bedrock } from '../../../providers/bedrock.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import { toSourceBody } from '../../../testing/recorded-requests.ts'
import type { Target } from '../../../upstream/target.ts'
import { bedrockConverse } from './client.ts'

const MODEL = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'
const target: Target = { provider: bedrock, model: MODEL, baseUrl: 'https://x', apiKey: '' }

describe('a body that passes through', () => {
  const use = (toolUseId: string): JsonObject => ({ toolUse: { toolUseId, name: 'f', input: {} } })
  const result = (toolUseId: string): JsonObject => ({ toolResult: { toolUseId, content: [{ text: 'r' }] } })
  const foreign = { reasoningContent: { reasoningText: { text: 'hm', signature: 'rideau-thinking' } } }
  const source = toSourceBody('bedrock-converse', {
    messages: [
      { role: 'user', content: [{ text: 'hi' }] },
      { role: 'assistant', content: [foreign] },
      { role: 'assistant', content: [foreign, use('t1__rd1__x')] },
      { role: 'user', content: [result('t1__rd1__x')] },
    ],
    inferenceConfig: { maxTokens: 100, temperature: 0.5 },
    novelty: 1.5,
  })
  const request: ChatRequest = {
    carriesReasoning: true,
    model: 'p/a',
    messages: [],
    stream: true,
    includeUsage: true,
    maxOutputTokens: 7,
  }

  test('gets the lowered cap, loses reasoning of other providers, and keeps all other bytes', () => {
    const { path, body } = bedrockConverse.encodeRequest(request, target, source)
    expect(path).toBe(`/model/${encodeURIComponent(MODEL)}/converse-stream`)
    expect(JSON.parse(body.toString())).toEqual({
      messages: [
        { role: 'user', content: [{ text: 'hi' }] },
        { role: 'assistant', content: [use('t1')] },
        { role: 'user', content: [result('t1')] },
      ],
      inferenceConfig: { maxTokens: 7, temperature: 0.5 },
      novelty: 1.5,
    })
  })

  test('stays unchanged for the next attempt', () => {
    const received = { messages: [], inferenceConfig: { maxTokens: 100 } }
    const shared = toSourceBody('bedrock-converse', received)
    bedrockConverse.encodeRequest(request, target, shared)
    expect(shared.value).toEqual({ messages: [], inferenceConfig: { maxTokens: 100 } })
  })

  test('gets a cap if the caller named none', () => {
    const bare = toSourceBody('bedrock-converse', { messages: [] })
    const { carriesReasoning: _, ...asked } = request
    const { body } = bedrockConverse.encodeRequest(asked, target, bare)
    expect(JSON.parse(body.toString())).toEqual({ messages: [], inferenceConfig: { maxTokens: 7 } })
  })

  test('has no unsupported parameters', () => {
    const asked = { ...request, seed: 1, reasoningEffort: 'low', toolChoice: 'required' as const }
    expect(bedrockConverse.listUnsupportedParams(asked, bedrock, 'meta.llama', source)).toEqual([])
  })

  test('keeps every byte if nothing has to change', () => {
    const bytes = Buffer.from(
      '{"messages":[{"content":[{"text":"\\u0068i"}]}], "inferenceConfig":{"maxTokens":7.0}}',
    )
    const scan = scanJson(bytes)
    if (!scan.ok) throw new Error(scan.reason)
    const plain: ChatRequest = {
      model: 'p/a',
      messages: [],
      stream: false,
      includeUsage: true,
      maxOutputTokens: 7,
      receivedOutputCap: 7,
    }
    const passed = {
      format: 'bedrock-converse' as const,
      bytes,
      value: scan.value as JsonObject,
      fields: scan.fields,
    }
    expect(bedrockConverse.encodeRequest(plain, target, passed).body.toString()).toBe(bytes.toString())
    const lowered = bedrockConverse.encodeRequest({ ...plain, maxOutputTokens: 5 }, target, passed)
    expect(lowered.body.toString()).toBe(bytes.toString().replace('7.0', '5'))
  })
})

describe.each(['thinking', 'reasoning_config', 'reasoningConfig'])(
  'a thinking budget in %s that a cap does not hold',
  holder => {
    const thinking = (budget_tokens: number) => ({ [holder]: { type: 'enabled', budget_tokens }, top_k: 5 })
    const sourceOf = (budget: number) =>
      toSourceBody('bedrock-converse', {
        messages: [],
        inferenceConfig: { maxTokens: 9000 },
        additionalModelRequestFields: thinking(budget),
      })
    const cappedTo = (maxOutputTokens: number): ChatRequest => ({
      model: 'p/a',
      messages: [],
      stream: false,
      includeUsage: true,
      reasoningEffort: 'medium',
      receivedOutputCap: 9000,
      maxOutputTokens,
    })

    test.each([
      [8000, 4096, thinking(2048), []],
      [2000, 4096, thinking(2000), []],
      [9000, 9000, thinking(9000), []],
      [9500, 9000, thinking(4500), []],
      [8000, 1000, { top_k: 5 }, [`additionalModelRequestFields.${holder}`]],
    ])('of %i below a cap of %i', (budget, cap, sent, unsupported) => {
      const source = sourceOf(budget)
      expect(bedrockConverse.listUnsupportedParams(cappedTo(cap), bedrock, MODEL, source)).toEqual(
        unsupported,
      )
      const { body } = bedrockConverse.encodeRequest(cappedTo(cap), target, source, unsupported)
      expect(JSON.parse(body.toString()).additionalModelRequestFields).toEqual(sent)
    })
  },
)
