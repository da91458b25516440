import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../json/json-value.ts'
import { findProvider } from '../../../providers/index.ts'
import { MAX_CALLS, MAX_CARRIED } from '../../../reply/call-budget.ts'
import type { Target } from '../../../upstream/target.ts'
import { anthropicMessages } from '../../anthropic-messages/client/client.ts'
import { bedrockConverse } from '../../bedrock-converse/client/client.ts'
import { geminiContent } from '../../gemini-content/client/client.ts'
import { openAiChat } from '../../openai-chat/client/client.ts'
import { openAiResponses } from '../../openai-responses/client/client.ts'
import type { ClientFormat } from '../client-format.ts'
import { unpackToolCallId } from '../reasoning/reasoning-carrier.ts'

function targetAt(id: string): Target {
  const provider = findProvider(id)
  if (provider === undefined) throw new Error(id)
  return { provider, model: 'm', baseUrl: 'https://example.com', apiKey: '' }
}

function times(count: number, make: (at: number) => JsonObject): JsonObject[] {
  return Array.from({ length: count }, (_, at) => make(at))
}

const openAiCall = (at: number): JsonObject => ({
  index: at,
  id: `c${at}`,
  type: 'function',
  function: { name: 'f', arguments: '{}' },
})
const responsesCall = (at: number): JsonObject => ({
  type: 'function_call',
  id: `fc_${at}`,
  call_id: `c${at}`,
  name: 'f',
  arguments: '{}',
})
const geminiCall = (at: number): JsonObject => ({ functionCall: { id: `c${at}`, name: 'f', args: {} } })

/** A whole answer with so many calls. */
const ANSWERS: readonly [string, string, ClientFormat, (count: number) => JsonObject][] = [
  [
    'OpenAI chat',
    'openai',
    openAiChat,
    count => ({
      choices: [{ message: { tool_calls: times(count, openAiCall) }, finish_reason: 'tool_calls' }],
    }),
  ],
  [
    'OpenAI chat, a choice for each',
    'openai',
    openAiChat,
    count => ({ choices: times(count, index => ({ index, message: { tool_calls: [openAiCall(0)] } })) }),
  ],
  ['OpenAI responses', 'openai', openAiResponses, count => ({ output: times(count, responsesCall) })],
  [
    'Anthropic',
    'anthropic',
    anthropicMessages,
    count => ({ content: times(count, at => ({ type: 'tool_use', id: `c${at}`, name: 'f', input: {} })) }),
  ],
  [
    'Converse',
    'bedrock',
    bedrockConverse,
    count => ({
      output: {
        message: {
          content: times(count, at => ({ toolUse: { toolUseId: `c${at}`, name: 'f', input: {} } })),
        },
      },
    }),
  ],
  [
    'Gemini',
    'gemini',
    geminiContent,
    count => ({ candidates: [{ content: { parts: times(count, geminiCall) }, finishReason: 'STOP' }] }),
  ],
]

describe('an answer has at most 512 tool calls, counted while it is decoded', () => {
  test.each(ANSWERS)('%s', (_name, provider, format, answer) => {
    const target = targetAt(provider)
    const decode = (count: number) => format.decodeReply(answer(count), target)
    const calls = decode(MAX_CALLS).choices.flatMap(({ message }) => message.tool_calls ?? [])
    expect(calls).toHaveLength(MAX_CALLS)
    expect(() => decode(MAX_CALLS + 1)).toThrow('more than 512 tool calls')
  })
})

/** One frame of a stream with so many calls. */
const FRAMES: readonly [string, string, ClientFormat, string | undefined, (count: number) => JsonObject][] = [
  [
    'OpenAI chat',
    'openai',
    openAiChat,
    undefined,
    count => ({ choices: [{ index: 0, delta: { tool_calls: times(count, openAiCall) } }] }),
  ],
  [
    'OpenAI responses',
    'openai',
    openAiResponses,
    'response.completed',
    count => ({ type: 'response.completed', response: { output: times(count, responsesCall) } }),
  ],
  [
    'Gemini',
    'gemini',
    geminiContent,
    undefined,
    count => ({ candidates: [{ content: { parts: times(count, geminiCall) } }] }),
  ],
]

test.each(FRAMES)('so does a frame of a stream: %s', (_name, provider, format, event, frame) => {
  const target = targetAt(provider)
  const decode = (count: number) => format.openStream(target).decode(JSON.stringify(frame(count)), event)
  expect(() => decode(MAX_CALLS)).not.toThrow()
  expect(() => decode(MAX_CALLS + 1)).toThrow('more than 512 tool calls')
})

/** Reasoning of so many characters, and a call, so many times. */
const REASONED: readonly [string, string, ClientFormat, (count: number, sealed: string) => JsonObject][] = [
  [
    'OpenAI chat',
    'openrouter',
    openAiChat,
    (count, data) => ({
      choices: times(count, index => ({
        index,
        message: {
          reasoning_details: [{ type: 'reasoning.encrypted', format: 'anthropic-claude-v1', data }],
          tool_calls: [openAiCall(index)],
        },
      })),
    }),
  ],
  [
    'OpenAI responses',
    'openai',
    openAiResponses,
    (count, encrypted_content) => ({
      output: Array.from({ length: count }, (_, at) => [
        { type: 'reasoning', id: `rs_${at}`, encrypted_content, summary: [] },
        responsesCall(at),
      ]).flat(),
    }),
  ],
  [
    'Anthropic',
    'anthropic',
    anthropicMessages,
    (count, data) => ({
      content: Array.from({ length: count }, (_, at) => [
        { type: 'redacted_thinking', data },
        { type: 'tool_use', id: `c${at}`, name: 'f', input: {} },
      ]).flat(),
    }),
  ],
  [
    'Converse',
    'bedrock',
    bedrockConverse,
    (count, signature) => ({
      output: {
        message: {
          content: Array.from({ length: count }, (_, at) => [
            { reasoningContent: { reasoningText: { text: '', signature } } },
            { toolUse: { toolUseId: `c${at}`, name: 'f', input: {} } },
          ]).flat(),
        },
      },
    }),
  ],
  [
    'Gemini',
    'gemini',
    geminiContent,
    (count, thoughtSignature) => ({
      candidates: [
        {
          content: { parts: times(count, at => ({ ...geminiCall(at), thoughtSignature })) },
          finishReason: 'STOP',
        },
      ],
    }),
  ],
]

describe('the ids of an answer carry a MiB of reasoning together, and further calls none', () => {
  test.each(REASONED)('%s', (_name, provider, format, answer) => {
    const sealed = 'A'.repeat(MAX_CARRIED / 4 - 1_000)
    const { choices } = format.decodeReply(answer(6, sealed), targetAt(provider))
    const ids = choices.flatMap(({ message }) => message.tool_calls ?? []).map(({ id }) => id)
    expect(ids.map(id => unpackToolCallId(id).details.length > 0)).toEqual([
      true,
      true,
      true,
      true,
      false,
      false,
    ])
  })
})

test('so do the ids of a stream of Converse', () => {
  const stream = bedrockConverse.openStream(targetAt('bedrock'))
  const decode = (event: string, frame: JsonObject) => stream.decode(JSON.stringify(frame), event)
  const signature = 'A'.repeat(MAX_CARRIED / 4 - 1_000)
  const isCarrying = Array.from({ length: 6 }, (_, at) => {
    decode('contentBlockDelta', { contentBlockIndex: at, delta: { reasoningContent: { signature } } })
    decode('contentBlockStop', { contentBlockIndex: at })
    const start = { toolUse: { toolUseId: `c${at}`, name: 'f' } }
    const [event] = decode('contentBlockStart', { contentBlockIndex: 10 + at, start })
    if (event?.type !== 'delta') throw new Error('no call')
    return unpackToolCallId(event.toolCalls?.[0]?.id ?? '').details.length > 0
  })
  expect(isCarrying).toEqual([true, true, true, true, false, false])
})
