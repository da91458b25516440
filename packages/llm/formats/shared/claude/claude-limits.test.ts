import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../json/json-value.ts'
import type { Provider } from '../../../provider/provider.ts'
import { findProvider } from '../../../providers/index.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { Message } from '../../../request/message.ts'
import { anthropicMessages } from '../../anthropic-messages/client/client.ts'
import { bedrockConverse } from '../../bedrock-converse/client/client.ts'
import { alwaysThinks, refusesForcedCalls } from './claude-limits.ts'

const TOOL = { type: 'function' as const, function: { name: 'f' } }
const FORCED: Partial<ChatRequest> = { tools: [TOOL], toolChoice: 'required', reasoningEffort: 'high' }
/** The answer tool of the gateway: structured output has no objects with properties of any name. */
const MAP: Partial<ChatRequest> = {
  responseFormat: {
    type: 'json_schema',
    json_schema: { name: 'm', schema: { type: 'object', additionalProperties: { type: 'string' } } },
  },
}
const AFTER_FOREIGN_CALLS: readonly Message[] = [
  { role: 'user', content: 'Go' },
  {
    role: 'assistant',
    tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }],
  },
  { role: 'tool', tool_call_id: 'a', content: '1' },
]

interface Sent {
  readonly unsupported: readonly string[]
  readonly thinking: unknown
  readonly effort: unknown
  readonly temperature: unknown
  readonly choice: unknown
}

const toRequest = (fields: Partial<ChatRequest>): ChatRequest => ({
  model: 'x',
  messages: [{ role: 'user', content: 'hi' }],
  stream: false,
  includeUsage: false,
  ...fields,
})

function send(model: string, fields: Partial<ChatRequest>): Sent {
  const request = toRequest(fields)
  const provider = findProvider('anthropic') as Provider
  const target = { provider, model, baseUrl: 'https://a.example/v1', apiKey: '' }
  const unsupported = anthropicMessages.listUnsupportedParams(request, provider, model)
  const body = JSON.parse(anthropicMessages.encodeRequest(request, target, undefined).body.toString())
  const { thinking, output_config: config, temperature, tool_choice: choice } = body
  return { unsupported, thinking, effort: config?.effort, temperature, choice }
}

function sendToBedrock(name: string, fields: Partial<ChatRequest>): Sent {
  const model = `global.anthropic.${name}`
  const request = toRequest(fields)
  const provider = findProvider('bedrock') as Provider
  const target = { provider, model, baseUrl: 'https://b.example', apiKey: '' }
  const unsupported = bedrockConverse.listUnsupportedParams(request, provider, model)
  const body = JSON.parse(bedrockConverse.encodeRequest(request, target, undefined).body.toString())
  const { thinking, output_config: config } = body.additionalModelRequestFields ?? {}
  const { toolChoice: choice } = body.toolConfig ?? {}
  const { temperature } = body.inferenceConfig ?? {}
  return { unsupported, thinking, effort: config?.effort, temperature, choice }
}

test.each<[string, boolean, boolean]>([
  ['claude-fable-5', true, false],
  ['claude-fable-5-20260609', true, false],
  ['claude-fable-5-1', true, true],
  ['us.anthropic.claude-mythos-5-2-v1:0', true, true],
  ['claude-mythos-preview', true, true],
  ['claude-opus-5', false, false],
  ['claude-opus-5-20260701', false, false],
  ['claude-opus-5-5', true, true],
  ['claude-opus-4-8', false, false],
  ['claude-sonnet-5', false, false],
  ['gpt-5.5', false, false],
])('%s: always thinks %s, refuses forced calls %s', (model, thinks, refuses) => {
  expect([alwaysThinks(model), refusesForcedCalls(model)]).toEqual([thinks, refuses])
})

describe.each<[string, typeof send]>([
  ['Anthropic', send],
  ['Bedrock', sendToBedrock],
])('at %s', (_, sendThere) => {
  test('an effort that a forced call excludes is named, and sampling is sent', () => {
    const sent = sendThere('claude-sonnet-4-5', { ...FORCED, temperature: 0.5 })
    expect(sent).toMatchObject({ unsupported: ['reasoning_effort'], temperature: 0.5 })
    expect(sent.thinking).toBeUndefined()
  })

  test("an effort that another provider's calls exclude is named, and sampling is sent", () => {
    const fields = { messages: AFTER_FOREIGN_CALLS, tools: [TOOL], reasoningEffort: 'high', temperature: 0.5 }
    const sent = sendThere('claude-sonnet-4-5', fields)
    expect(sent).toMatchObject({ unsupported: ['reasoning_effort'], temperature: 0.5 })
    expect(sent.thinking).toBeUndefined()
  })

  test('an effort without room below the output cap is named', () => {
    const fields = { reasoningEffort: 'high', maxOutputTokens: 1000 }
    expect(sendThere('claude-sonnet-4-5', fields).unsupported).toEqual(['reasoning_effort'])
  })

  test('newer models think beside a forced call', () => {
    const sent = sendThere('claude-opus-4-8', FORCED)
    expect(sent).toMatchObject({ unsupported: [], thinking: { type: 'adaptive' }, effort: 'high' })
    expect(sent.choice).toBeDefined()
  })

  test('a forced call that the model refuses is named and not sent', () => {
    const sent = sendThere('claude-opus-5-5', FORCED)
    expect(sent).toMatchObject({ unsupported: ['tool_choice'], thinking: { type: 'adaptive' } })
    expect(sent.choice).toBeUndefined()
  })

  test('a model that refuses forced calls is told to call the answer tool', () => {
    expect(JSON.stringify(sendThere('claude-fable-5', MAP).choice)).toMatch(/"name":"rideau_/)
    expect(JSON.stringify(sendThere('claude-fable-5-1', MAP).choice ?? null)).not.toMatch(/rideau_/)
  })

  test('a model that cannot be kept from thinking is asked for the least of it', () => {
    const sent = sendThere('claude-fable-5', { reasoningEffort: 'none' })
    expect(sent).toMatchObject({ unsupported: [], effort: 'low' })
    expect(sent.thinking).toBeUndefined()
    expect(sendThere('claude-opus-5', { reasoningEffort: 'none' }).thinking).toEqual({ type: 'disabled' })
  })

  test.each(['claude-sonnet-4-5', 'claude-opus-4-7'])(
    'nothing tells %s not to think, which it does when asked only',
    model => {
      const sent = sendThere(model, { reasoningEffort: 'none' })
      expect([sent.thinking, sent.effort, sent.unsupported]).toEqual([undefined, undefined, []])
    },
  )
})

test('Claude up to 4.7 on Bedrock does not think beside a forced call, and the effort is named', () => {
  const sent: JsonObject = { ...sendToBedrock('claude-opus-4-7', FORCED) } as unknown as JsonObject
  expect(sent).toMatchObject({ unsupported: ['reasoning_effort'], choice: { any: {} } })
  expect(sent.thinking).toBeUndefined()
})
