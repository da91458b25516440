import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../json/json-value.ts'
import type { Provider } from '../../../provider/provider.ts'
import { findProvider } from '../../../providers/index.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { SourceBody } from '../../../request/source-body.ts'
import { toSourceBody } from '../../../testing/recorded-requests.ts'
import type { Target } from '../../../upstream/target.ts'
import { packToolCallId } from '../../shared/reasoning/reasoning-carrier.ts'
import { tokenCounter } from './count-tokens.ts'
import { encodeRequest } from './encode-request.ts'
import { listUnsupportedParams } from './unsupported-params.ts'

const provider = findProvider('anthropic') as Provider
const target: Target = { provider, model: 'claude-sonnet-4-6', baseUrl: 'https://a.example/v1', apiKey: 'k' }

const toRequest = (fields: Partial<ChatRequest> = {}): ChatRequest => ({
  ...{
    model: 'anthropic/x',
    messages: [{ role: 'user', content: 'hi' }],
    stream: false,
    includeUsage: false,
  },
  ...fields,
})
const toSource = (body: JsonObject | string): SourceBody => toSourceBody('anthropic-messages', body)

describe('a body of the same format', () => {
  const text =
    '{ "model":"claude-x", "max_tokens": 9, "messages":[{"role":"user","content":"h\\u0069"}],"context_management":{"edits":[]}, "zzz": 1.0 }'

  test('passes byte for byte, with another model name and the headers of its format', () => {
    const own = { 'anthropic-beta': 'a,b', 'anthropic-version': '2024-01-01' }
    const source = { ...toSource(text), headers: own }
    const { body, headers } = encodeRequest(toRequest({ maxOutputTokens: 9 }), target, source)
    expect(body.toString()).toBe(text.replace('"claude-x"', '"claude-sonnet-4-6"'))
    expect(headers).toMatchObject(own)
    expect(listUnsupportedParams(toRequest({ seed: 1 }), provider, '', source)).toEqual([])
  })

  test.each([
    ['is lowered with it', 4096, 2048, []],
    ['stays if the cap holds it', 8500, 8000, []],
    ['stays where the caller named the cap', 9000, 8000, []],
    ['is left out and named without room', 1000, undefined, ['thinking']],
  ])('has a thinking budget that a lowered cap holds: it %s', (_, maxOutputTokens, budget, unsupported) => {
    const thinking = { type: 'enabled', budget_tokens: 8000 }
    const source = toSource({ model: 'x', max_tokens: 9000, messages: [], thinking })
    const request = toRequest({ maxOutputTokens })
    expect(listUnsupportedParams(request, provider, 'claude-haiku-4-5', source)).toEqual(unsupported)
    const sent = JSON.parse(encodeRequest(request, target, source, unsupported).body.toString())
    expect(sent.thinking?.budget_tokens).toBe(budget)
  })

  test('has no fields of the answer if it is a count, also if the gateway set a cap', () => {
    const request = toRequest({ maxOutputTokens: 5 })
    const sent = (source: SourceBody | undefined): JsonObject =>
      JSON.parse(tokenCounter.encodeRequest(request, target, source).body.toString())
    const bare = toSource({ model: 'x', messages: [], top_k: 5, system: 's' })
    expect(sent(bare)).toEqual({ model: 'claude-sonnet-4-6', messages: [], system: 's' })
    expect(sent(toSource(text))).not.toHaveProperty('max_tokens')
    expect(sent(undefined)).toEqual({
      model: 'claude-sonnet-4-6',
      messages: [{ role: 'user', content: 'hi' }],
    })
  })

  test('gets the cap that the gateway lowered', () => {
    const { body } = encodeRequest(toRequest({ maxOutputTokens: 5 }), target, toSource(text))
    expect(JSON.parse(body.toString()).max_tokens).toBe(5)
  })

  test('loses reasoning of another provider, and nothing else', () => {
    const id = packToolCallId('call_1', [
      { type: 'reasoning.encrypted', format: 'google-gemini-v1', data: 'AAEC' },
    ])
    const source = toSource({
      model: 'x',
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: [{ type: 'thinking', thinking: 'x', signature: 'rideau-thinking' }] },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'y', signature: 'rideau-thinking' },
            { type: 'thinking', thinking: 'z', signature: 'real' },
            { type: 'tool_use', id, name: 'f', input: {} },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'r' }] },
      ],
    })
    const { body } = encodeRequest(toRequest({ carriesReasoning: true }), target, source)
    expect(JSON.parse(body.toString()).messages).toEqual([
      { role: 'user', content: 'hi' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'z', signature: 'real' },
          { type: 'tool_use', id: 'call_1', name: 'f', input: {} },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'r' }] },
    ])
  })
})
