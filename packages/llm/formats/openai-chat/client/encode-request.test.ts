import { describe, expect, test } from 'vitest'
import { scanJson } from '../../../json/json-scan.ts'
import type { JsonObject } from '../../../json/json-value.ts'
import { toObjects } from '../../../json/json-value.ts'
import type { OpenAiDeviations } from '../../../provider/openai-deviations.ts'
import type { Provider } from '../../../provider/provider.ts'
import { findProvider } from '../../../providers/index.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { FormatId } from '../../../request/format-id.ts'
import type { Message } from '../../../request/message.ts'
import type { SourceBody } from '../../../request/source-body.ts'
import type { Target } from '../../../upstream/target.ts'
import { anthropicServer } from '../../anthropic-messages/server/server.ts'
import { parseRequest } from '../server/parse-request.ts'
import { encodeRequest, listUnsupportedParams } from './encode-request.ts'

const MESSAGES: Message[] = [{ role: 'user', content: 'hi' }]

function toTarget(provider: string | OpenAiDeviations, baseUrl = 'https://api.example.com/v1'): Target {
  const known = typeof provider === 'string' ? findProvider(provider) : undefined
  const fallback = findProvider('custom') as Provider
  const openai = typeof provider === 'string' ? {} : { openai: provider }
  return { provider: known ?? { ...fallback, ...openai }, model: 'their-model', baseUrl, apiKey: 'k' }
}

function toSource(format: FormatId, text: string): SourceBody {
  const bytes = Buffer.from(text)
  const scan = scanJson(bytes)
  if (!scan.ok) throw new Error(scan.reason)
  return { format, bytes, value: scan.value as JsonObject, fields: scan.fields }
}

const toRequest = (fields: Partial<ChatRequest> = {}): ChatRequest => ({
  model: 'openai/x',
  messages: MESSAGES,
  stream: false,
  includeUsage: false,
  ...fields,
})

/** The body that goes out for a body that came in. */
function send(
  format: FormatId,
  body: JsonObject,
  target: Target,
  request: Partial<ChatRequest> = {},
  dropped?: string[],
): JsonObject {
  const text = JSON.stringify({ model: 'openai/x', messages: MESSAGES, ...body })
  return JSON.parse(
    encodeRequest(toRequest(request), target, toSource(format, text), dropped).body.toString(),
  )
}

describe('received bytes', () => {
  test('keep spacing, numbers and unknown fields where nothing must differ', () => {
    const text =
      '{ "model" : "openai/x", "messages":[{"role":"user","content":"h\\u0069"}], "temperature":1.0, "zzz": {"a" :1e2} }'
    const { body } = encodeRequest(
      toRequest({ temperature: 1 }),
      toTarget('openai'),
      toSource('openai-chat', text),
    )
    expect(body.toString()).toBe(text.replace('"openai/x"', '"their-model"'))
  })

  test('null is left out of a native body, and passes on in one of chat completions', () => {
    expect(send('native', { temperature: null, tools: null }, toTarget('openai'))).toEqual({
      model: 'their-model',
      messages: MESSAGES,
    })
    expect(send('openai-chat', { temperature: null }, toTarget('openai'))).toHaveProperty('temperature', null)
  })

  test('an effort that was removed from the request is left out of a native body', () => {
    expect(send('native', { reasoning_effort: 'none' }, toTarget('openai'))).toEqual({
      model: 'their-model',
      messages: MESSAGES,
    })
  })

  test('the gateway’s own fields of a native body are not sent; user is', () => {
    const body = {
      end_user: 'e',
      timeout_ms: 5000,
      metadata: { a: 'b' },
      provider_options: { groq: { x: 1 } },
      user: 'u',
    }
    expect(send('native', body, toTarget('openai'))).toEqual({
      model: 'their-model',
      messages: MESSAGES,
      user: 'u',
    })
    expect(send('openai-chat', { metadata: { a: 'b' } }, toTarget('openai'))).toHaveProperty('metadata')
  })
})

describe('the output cap', () => {
  test.each(['max_output_tokens', 'max_tokens', 'max_completion_tokens'])(
    '%s is sent under the name that the provider takes',
    name => {
      const names = (provider: string) =>
        send('native', { [name]: 7 }, toTarget(provider), { maxOutputTokens: 7 })
      expect(names('openai')).toEqual({ model: 'their-model', messages: MESSAGES, max_completion_tokens: 7 })
      expect(names('together')).toEqual({ model: 'their-model', messages: MESSAGES, max_tokens: 7 })
    },
  )

  test('a cap that the gateway set or lowered replaces the received one', () => {
    expect(
      send('openai-chat', { max_completion_tokens: 900 }, toTarget('openai'), { maxOutputTokens: 5 }),
    ).toHaveProperty('max_completion_tokens', 5)
    expect(send('openai-chat', {}, toTarget('openai'), { maxOutputTokens: 5 })).toHaveProperty(
      'max_completion_tokens',
      5,
    )
  })
})

describe('streams', () => {
  const stream = { stream: true }

  test('ask for usage, and keep other stream options', () => {
    expect(send('openai-chat', stream, toTarget('openai'), stream)).toMatchObject({
      stream: true,
      stream_options: { include_usage: true },
    })
    const options = { include_usage: false, include_obfuscation: false }
    expect(
      send('openai-chat', { ...stream, stream_options: options }, toTarget('openai'), stream).stream_options,
    ).toEqual({ include_usage: true, include_obfuscation: false })
    expect(
      send('openai-chat', { ...stream, stream_options: null }, toTarget('openai'), stream).stream_options,
    ).toEqual({ include_usage: true })
  })

  test('do not ask a provider that refuses the option', () => {
    expect(
      send(
        'openai-chat',
        { ...stream, stream_options: { include_usage: true } },
        toTarget('mistral'),
        stream,
      ),
    ).not.toHaveProperty('stream_options')
  })

  test('stream_options without a stream are left out', () => {
    expect(
      send('native', { stream_options: { include_usage: true } }, toTarget('openai')),
    ).not.toHaveProperty('stream_options')
  })

  test('are sent if the request is one, whatever the received body has', () => {
    expect(send('openai-chat', {}, toTarget('openai'), stream)).toHaveProperty('stream', true)
    expect(send('openai-chat', stream, toTarget('openai'))).toHaveProperty('stream', false)
  })
})

describe('deviations', () => {
  test('the role developer becomes system at a provider that does not know it, and the rest of the message stays', () => {
    const messages: Message[] = [{ role: 'developer', content: 'be kind', name: 'n' }, ...MESSAGES]
    const sent = (provider: string) =>
      send('openai-chat', { messages: messages as unknown as JsonObject[] }, toTarget(provider), { messages })
        .messages
    expect(sent('groq')).toEqual([{ role: 'system', content: 'be kind', name: 'n' }, ...MESSAGES])
    expect(sent('openai')).toEqual(messages)
  })

  test('a parameter is sent under the provider’s name for it', () => {
    const sent = send('openai-chat', { seed: 5, tool_choice: 'required' }, toTarget('mistral'), {
      seed: 5,
      toolChoice: 'required',
    })
    expect(sent).toMatchObject({ random_seed: 5, tool_choice: 'any' })
    expect(sent).not.toHaveProperty('seed')
  })

  test('an effort is sent in the provider’s own fields', () => {
    const sent = (effort: string) =>
      send('native', { reasoning_effort: effort }, toTarget('deepseek'), { reasoningEffort: effort })
    expect(sent('none')).toEqual({ model: 'their-model', messages: MESSAGES, thinking: { type: 'disabled' } })
    expect(sent('low')).toHaveProperty('reasoning_effort', 'high')
    expect(sent('toString')).toHaveProperty('reasoning_effort', 'toString')
  })

  test('a tool call and its result get the same id, in the form that the provider takes', () => {
    const messages: Message[] = [
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'call_abc', type: 'function', function: { name: 'f', arguments: '{}' } },
          { id: 'aB3456789', type: 'function', function: { name: 'g', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'call_abc', content: '1' },
      { role: 'tool', tool_call_id: 'aB3456789', content: '2' },
    ]
    const sent = send('openai-chat', {}, toTarget('mistral'), { messages }).messages as JsonObject[]
    const ids = toObjects(sent[0]?.tool_calls).map(({ id }) => id)
    expect(ids[0]).toMatch(/^[a-zA-Z0-9]{9}$/)
    expect(ids[1]).toBe('aB3456789')
    expect(sent.slice(1).map(({ tool_call_id }) => tool_call_id)).toEqual(ids)
  })

  test('options for the called provider are merged in, options for others are not', () => {
    const providerOptions = { openai: { service_tier: 'flex', seed: 9 }, groq: { x: 1 } }
    expect(
      send('native', { seed: 1, provider_options: providerOptions }, toTarget('openai'), {
        seed: 1,
        providerOptions,
      }),
    ).toEqual({
      model: 'their-model',
      messages: MESSAGES,
      seed: 9,
      service_tier: 'flex',
    })
  })
})

/** The request of a received body. */
function receive(body: JsonObject): ChatRequest {
  const received: JsonObject = { model: 'openai/x', messages: MESSAGES as unknown as JsonObject[], ...body }
  const source = toSource('openai-chat', JSON.stringify(received))
  return parseRequest(received, { source, pathModel: '', isEndUser: false }).request
}

describe('parameters that a provider cannot honour', () => {
  const groq = findProvider('groq') as Provider

  test('are listed if their loss would change the answer', () => {
    expect(listUnsupportedParams(toRequest({ presencePenalty: 1, temperature: 1 }), groq, '')).toEqual([
      'presence_penalty',
    ])
    expect(listUnsupportedParams(toRequest({ presencePenalty: 0, frequencyPenalty: 0 }), groq, '')).toEqual(
      [],
    )
    expect(
      listUnsupportedParams(toRequest({ presencePenalty: 1 }), findProvider('openai') as Provider, ''),
    ).toEqual([])
  })

  test('are listed if they have no canonical meaning too', () => {
    const request = receive({ logprobs: true, top_logprobs: null, logit_bias: {} })
    expect(listUnsupportedParams(request, groq, '')).toEqual(['logprobs'])
  })

  test('include more than one choice at a provider that documents so', () => {
    expect(listUnsupportedParams(receive({ n: 2 }), groq, '')).toEqual(['n'])
    expect(listUnsupportedParams(receive({ n: 1 }), groq, '')).toEqual([])
  })

  test('include sampling for models with fixed sampling, and not for older ones', () => {
    const moonshot = findProvider('moonshot') as Provider
    const request = toRequest({ temperature: 0.3, topP: 0.5, presencePenalty: 1, frequencyPenalty: 0 })
    for (const model of ['kimi-k2.5', 'kimi-k2.6', 'kimi-k2.7-code', 'kimi-k3']) {
      expect(listUnsupportedParams(request, moonshot, model)).toEqual([
        'temperature',
        'top_p',
        'presence_penalty',
      ])
    }
    for (const model of ['kimi-k2-thinking', 'moonshot-v1-8k', 'kimi-k2-0905-preview']) {
      expect(listUnsupportedParams(request, moonshot, model)).toEqual([])
    }
  })

  test('include a field that only a caller’s other format has, by a finding of its parser', () => {
    const body: JsonObject = {
      model: 'x',
      max_tokens: 9,
      messages: MESSAGES as unknown as JsonObject[],
      top_k: 5,
    }
    const source = toSource('anthropic-messages', JSON.stringify(body))
    const { findings } = anthropicServer.parse(body, { source, pathModel: '', isEndUser: false })
    expect(findings.nativeOnly).toEqual(['top_k'])
    // A caller of this format may know what its provider takes.
    expect(listUnsupportedParams(receive({ top_k: 5 }), findProvider('custom') as Provider, '')).toEqual([])
  })

  test('are left out if their loss changes nothing', () => {
    const harmless = {
      presence_penalty: 0,
      frequency_penalty: 0,
      logprobs: false,
      store: false,
      logit_bias: null,
    }
    expect(send('openai-chat', harmless, toTarget('groq'), receive(harmless))).toEqual({
      model: 'their-model',
      messages: MESSAGES,
    })
    const user = { user: 'u' }
    expect(send('openai-chat', user, toTarget('mistral'), receive(user))).not.toHaveProperty('user')
    const parallel = { parallel_tool_calls: true }
    expect(send('openai-chat', parallel, toTarget('deepseek'), receive(parallel))).not.toHaveProperty(
      'parallel_tool_calls',
    )
  })

  test('are left out if they are dropped', () => {
    const penalty = { presence_penalty: 1 }
    expect(send('openai-chat', penalty, toTarget('groq'), receive(penalty))).toMatchObject(penalty)
    expect(
      send('openai-chat', penalty, toTarget('groq'), receive(penalty), ['presence_penalty']),
    ).not.toHaveProperty('presence_penalty')
  })
})

describe('without a received body', () => {
  test('the body is made from the request', () => {
    const request = toRequest({
      temperature: 0.5,
      maxOutputTokens: 9,
      stop: ['x'],
      seed: 1,
      stream: true,
      responseFormat: { type: 'json_object' },
    })
    const { body } = encodeRequest(request, toTarget('mistral'), undefined)
    expect(JSON.parse(body.toString())).toEqual({
      model: 'their-model',
      messages: MESSAGES,
      temperature: 0.5,
      max_tokens: 9,
      stop: ['x'],
      random_seed: 1,
      stream: true,
      response_format: { type: 'json_object' },
    })
  })
})

describe('address and headers', () => {
  test.each([
    ['https://api.example.com/v1', 'https://api.example.com', '/v1/chat/completions'],
    ['http://127.0.0.1:8000', 'http://127.0.0.1:8000', '/chat/completions'],
    ['https://x.example/a/b', 'https://x.example', '/a/b/chat/completions'],
  ])('%s', (baseUrl, origin, path) => {
    expect(encodeRequest(toRequest(), toTarget('openai', baseUrl), undefined)).toMatchObject({ origin, path })
  })
})

test('a field named __proto__ passes through and pollutes nothing', () => {
  const text = '{"model":"a","messages":[],"__proto__":{"polluted":1}}'
  const { body } = encodeRequest(toRequest(), toTarget('openai'), toSource('openai-chat', text))
  expect(body.toString()).toContain('"__proto__":{"polluted":1}')
  expect(({} as JsonObject).polluted).toBeUndefined()
})

test.each<[string, string, JsonObject]>([
  ['deepseek', 'low', { reasoning_effort: 'high' }],
  ['deepseek', 'xhigh', { reasoning_effort: 'max' }],
  ['mistral', 'xhigh', { reasoning_effort: 'high' }],
  ['mistral', 'max', { reasoning_effort: 'high' }],
  ['alibaba', 'max', { enable_thinking: true }],
])('%s is asked for the effort %s in words of its own', (provider, reasoning_effort, fields) => {
  const sent = send('openai-chat', { reasoning_effort }, toTarget(provider), {
    reasoningEffort: reasoning_effort,
  })
  expect(sent).toMatchObject(fields)
  expect(Object.hasOwn(sent, 'reasoning_effort')).toBe(Object.hasOwn(fields, 'reasoning_effort'))
})
