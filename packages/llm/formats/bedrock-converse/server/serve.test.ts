import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { encodeAwsEvent } from '../../../frames/aws-event-frame.ts'
import { openFrames } from '../../../frames/open-frames.ts'
import type { JsonObject } from '../../../json/json-value.ts'
import { bedrock } from '../../../providers/bedrock.ts'
import { custom } from '../../../providers/custom.ts'
import type { ChatReply } from '../../../reply/chat-reply.ts'
import type { ToolCall } from '../../../request/message.ts'
import type { StreamEvent } from '../../../stream/stream-event.ts'
import { addUp } from '../../../testing/add-up.ts'
import { anyStream } from '../../../testing/any-stream.ts'
import { toSourceBody } from '../../../testing/recorded-requests.ts'
import type { Target } from '../../../upstream/target.ts'
import type { Usage } from '../../../usage/usage.ts'
import { encodeRequest as encodeForOpenAi } from '../../openai-chat/client/encode-request.ts'
import { FORMAT } from '../../shared/claude/claude-thinking.ts'
import { noMessageNotes } from '../../shared/reading/message-notes.ts'
import { FOREIGN_SIGNATURE } from '../../shared/reasoning/foreign-thinking.ts'
import { bedrockConverse } from '../client/client.ts'
import { decodeReply } from '../client/decode-reply.ts'
import { openStream } from '../client/decode-stream.ts'
import { FIELDS } from '../wire/fields.ts'
import { encodeReply } from './encode-reply.ts'
import { ConverseEncoder, type ConverseEvent } from './encode-stream.ts'
import { parseMessages } from './parse-messages.ts'
import { parseRequest } from './parse-request.ts'

const MODEL = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'
const target: Target = { provider: bedrock, model: MODEL, baseUrl: 'https://x', apiKey: '' }
const USAGE: Usage = {
  uncachedInput: 1,
  cacheRead: 2,
  cacheWrite: 3,
  cacheWrite1h: 4,
  output: 5,
  reasoning: 0,
}
const parse = (body: JsonObject) =>
  parseRequest(body, { source: toSourceBody('bedrock-converse', body), pathModel: 'x', isEndUser: false })
/** The paths that the parser finds, also in bodies with fields that it refuses. */
const listNativeOnly = (body: JsonObject): readonly string[] => {
  const notes = noMessageNotes(FIELDS.listFormatSpecific(body))
  parseMessages(body, notes)
  return notes.nativeOnly
}
const call = (id: string, args = '{"a":1}'): ToolCall => ({
  id,
  type: 'function',
  function: { name: 'f', arguments: args },
})

describe('an answer for a caller of this format', () => {
  const message = { role: 'assistant' as const, content: 'hi', tool_calls: [call('t1')] }
  const reply: ChatReply = { choices: [{ index: 0, message, finishReason: 'tool_calls' }], usage: USAGE }

  test('has every field that clients read, and counts tokens as this format does', () => {
    const choices = [
      { index: 0, message: { ...message, reasoning: 'hm' }, finishReason: 'tool_calls' as const },
    ]
    expect(encodeReply({ choices, usage: { ...USAGE, reasoning: 6 } }, 7)).toEqual({
      output: {
        message: {
          role: 'assistant',
          content: [
            { reasoningContent: { reasoningText: { text: 'hm', signature: 'rideau-thinking' } } },
            { text: 'hi' },
            { toolUse: { toolUseId: 't1', name: 'f', input: { a: 1 } } },
          ],
        },
      },
      stopReason: 'tool_use',
      usage: {
        inputTokens: 1,
        outputTokens: 11,
        totalTokens: 21,
        cacheReadInputTokens: 2,
        cacheWriteInputTokens: 7,
        cacheDetails: [
          { ttl: '5m', inputTokens: 3 },
          { ttl: '1h', inputTokens: 4 },
        ],
      },
      metrics: { latencyMs: 7 },
    })
  })

  test('an answer that was encoded decodes to itself', () => {
    expect(decodeReply(encodeReply(reply, 1))).toEqual(reply)
  })

  test('keeps signed and encrypted reasoning, plain and streamed', () => {
    const details = [
      { type: 'reasoning.text', format: 'anthropic-claude-v1', text: 'hm', signature: 's' },
      { type: 'reasoning.encrypted', format: 'anthropic-claude-v1', data: 'sealed' },
    ] as const
    const thought = { role: 'assistant' as const, content: 'hi', reasoning: 'hm', reasoning_details: details }
    const { output } = encodeReply(
      { choices: [{ index: 0, message: thought, finishReason: 'stop' }], usage: USAGE },
      1,
    )
    expect(output).toMatchObject({
      message: {
        content: [
          { reasoningContent: { reasoningText: { text: 'hm', signature: 's' } } },
          { reasoningContent: { redactedContent: Buffer.from('sealed').toString('base64') } },
          { text: 'hi' },
        ],
      },
    })
    const sum = restream(
      [
        { type: 'delta', index: 0, reasoning: 'hm' },
        { type: 'delta', index: 0, reasoningDetails: details },
        { type: 'delta', index: 0, content: 'hi' },
      ],
      'stop',
    )
    expect(sum).toMatchObject({ content: 'hi', reasoning: 'hm', details })
  })

  test('replaces the signature of reasoning that an aggregator handed on by the gateway’s mark, plain and streamed', () => {
    const details = [
      { type: 'reasoning.text', format: FORMAT, text: 'hm', signature: 's', via: 'openrouter' },
      { type: 'reasoning.encrypted', format: FORMAT, data: 'sealed', via: 'openrouter' },
    ] as const
    const thought = { role: 'assistant' as const, content: 'hi', reasoning: 'hm', reasoning_details: details }
    const { output } = encodeReply(
      { choices: [{ index: 0, message: thought, finishReason: 'stop' }], usage: USAGE },
      1,
    )
    const marked = { reasoningContent: { reasoningText: { text: 'hm', signature: FOREIGN_SIGNATURE } } }
    expect(output).toMatchObject({ message: { content: [marked, { text: 'hi' }] } })
    const encoder = new ConverseEncoder()
    const wire = [
      ...encoder.encode({ type: 'delta', index: 0, reasoning: 'hm', reasoningDetails: details }),
      ...encoder.finish('stop', USAGE, 1),
    ]
    const deltas = wire.map(({ body }) => body.delta).filter(delta => delta !== undefined)
    expect(deltas).toEqual([
      { reasoningContent: { text: 'hm' } },
      { reasoningContent: { signature: FOREIGN_SIGNATURE } },
    ])
  })

  test('any stream in any chunks: blocks begin before they continue, end once, and decode to the same content', () => {
    fc.assert(
      fc.property(anyStream, fc.array(fc.nat(90)), ({ events, said }, cuts) => {
        const reason = said.calls.length > 0 ? 'tool_calls' : 'stop'
        const sum = restream(events, reason, cuts)
        expect({
          content: sum.content,
          reasoning: sum.reasoning,
          calls: sum.calls.map(({ arguments: text }) => text),
        }).toEqual(said)
        expect([sum.finishReason, sum.usage, sum.isEnded]).toEqual([reason, USAGE, true])
      }),
    )
  })
})

/** Encodes events, cuts the frames into chunks, and decodes them again. */
function restream(
  events: readonly StreamEvent[],
  reason: 'stop' | 'tool_calls',
  cuts: readonly number[] = [],
): ReturnType<typeof addUp> {
  const encoder = new ConverseEncoder()
  const wire = [...events.flatMap(event => encoder.encode(event)), ...encoder.finish(reason, USAGE, 1)]
  expectSound(wire)
  const decoder = openStream()
  const heard: StreamEvent[] = []
  const parser = openFrames('aws-event-stream', ({ event, data }) =>
    heard.push(...decoder.decode(data, event)),
  )
  let rest = Buffer.concat(wire.map(({ type, body }) => encodeAwsEvent(type, body)))
  for (const cut of cuts) {
    parser.push(rest.subarray(0, cut))
    rest = rest.subarray(cut)
  }
  parser.push(rest)
  parser.end()
  return addUp(heard)
}

/** Expects blocks to count up from 0 and to end once, and only calls to have a start event. */
function expectSound(wire: readonly ConverseEvent[]): void {
  const open = new Set<unknown>()
  let begun = 0
  expect([wire[0]?.type, wire.at(-2)?.type, wire.at(-1)?.type]).toEqual([
    'messageStart',
    'messageStop',
    'metadata',
  ])
  for (const { type, body } of wire.slice(1, -2)) {
    const index = body.contentBlockIndex
    if (!open.has(index)) {
      expect(index).toBe(begun++)
      open.add(index)
    } else expect(type).not.toBe('contentBlockStart')
    if (type === 'contentBlockStop') open.delete(index)
  }
  expect(open.size).toBe(0)
}

describe('a request of this format for another provider', () => {
  const pdf = { format: 'pdf', name: 't', source: { bytes: 'AAAA' } }
  const body: JsonObject = {
    system: [{ text: 'a' }, { cachePoint: { type: 'default', ttl: '1h' } }],
    messages: [
      {
        role: 'user',
        content: [
          { text: 'see' },
          { image: { format: 'png', source: { bytes: 'BBBB' } } },
          { document: pdf },
          {
            document: {
              format: 'txt',
              name: 'n',
              source: { bytes: Buffer.from('words').toString('base64') },
            },
          },
          { guardContent: { text: { text: 'guarded', qualifiers: ['query'] } } },
        ],
      },
      {
        role: 'assistant',
        content: [
          { reasoningContent: { reasoningText: { text: 'hm', signature: 's' } } },
          { text: 'ok' },
          { toolUse: { toolUseId: 't1', name: 'f', input: { a: 1 } } },
        ],
      },
      {
        role: 'user',
        content: [
          { text: 'more' },
          { toolResult: { toolUseId: 't1', content: [{ json: { b: 2 } }, { text: 'r' }], status: 'error' } },
          { cachePoint: { type: 'default' } },
        ],
      },
    ],
    toolConfig: {
      tools: [
        {
          toolSpec: { name: 'f', description: 'd', inputSchema: { json: { type: 'object' } }, strict: true },
        },
        { cachePoint: { type: 'default' } },
      ],
      toolChoice: { tool: { name: 'f' } },
    },
    inferenceConfig: { stopSequences: ['x'] },
    outputConfig: {
      textFormat: {
        type: 'json_schema',
        structure: { jsonSchema: { name: 'n', schema: '{"type":"object"}' } },
      },
    },
    additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 10_000 } },
    requestMetadata: { a: 'b' },
  }
  const { request, findings } = parse(body)

  test('becomes the canonical request', () => {
    expect(findings.nativeOnly).toEqual(['requestMetadata'])
    expect(request).toMatchObject({
      toolChoice: { type: 'function', function: { name: 'f' } },
      reasoningEffort: 'medium',
      responseFormat: { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object' } } },
      stop: ['x'],
    })
    expect(request.messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'user'])
  })

  test('has nothing of this format when it is sent in OpenAI’s', () => {
    const source = {
      format: 'bedrock-converse' as const,
      bytes: Buffer.from('{}'),
      value: {},
      fields: new Map(),
    }
    const other = { ...target, provider: custom }
    const sent = JSON.parse(encodeForOpenAi(request, other, source).body.toString())
    expect(sent.messages).toEqual([
      { role: 'system', content: 'a' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'see' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,BBBB' } },
          { type: 'file', file: { filename: 't.pdf', file_data: 'data:application/pdf;base64,AAAA' } },
          { type: 'text', text: 'n' },
          { type: 'text', text: 'words' },
          { type: 'text', text: 'guarded' },
        ],
      },
      { role: 'assistant', content: 'ok', tool_calls: [call('t1')] },
      { role: 'tool', tool_call_id: 't1', content: 'Error: {"b":2}\nr' },
      { role: 'user', content: 'more' },
    ])
    expect(JSON.stringify(sent)).not.toMatch(/cache_control|signature|reasoning_details|cachePoint/)
  })

  test('is the same when it is sent in this format again', () => {
    const sent = JSON.parse(bedrockConverse.encodeRequest(request, target, undefined).body.toString())
    expect(sent.system).toEqual(body.system)
    expect(sent.messages[1]).toEqual((body.messages as JsonObject[])[1])
    expect(sent.messages[2].content).toEqual([
      { toolResult: { toolUseId: 't1', content: [{ text: '{"b":2}' }, { text: 'r' }], status: 'error' } },
      { cachePoint: { type: 'default' } },
      { text: 'more' },
    ])
    expect(sent.toolConfig).toEqual(body.toolConfig)
  })

  test.each<[JsonObject, string | undefined]>([
    [{ thinking: { type: 'disabled' } }, 'none'],
    [{ thinking: { type: 'adaptive' }, output_config: { effort: 'max' } }, 'max'],
    [{ reasoning_config: { type: 'enabled', budget_tokens: 1024 } }, 'low'],
    [{ reasoning_effort: 'low' }, 'low'],
    [{ reasoningConfig: { type: 'enabled', maxReasoningEffort: 'high' } }, 'high'],
    [{ reasoningConfig: { type: 'disabled' } }, 'none'],
    [{}, undefined],
  ])('%j asks for the effort %s', (fields, effort) => {
    const messages = [{ role: 'user', content: [{ text: 'hi' }] }]
    expect(parse({ messages, additionalModelRequestFields: fields }).request.reasoningEffort).toBe(effort)
  })

  test('names what only this format has by its path, and nothing that has no effect', () => {
    const nativeOnly = listNativeOnly({
      system: [{ hologram: {} }],
      messages: [
        {
          role: 'user',
          content: [
            { video: { format: 'mp4', source: { bytes: '' } } },
            { document: { ...pdf, citations: { enabled: true } } },
            { toolResult: { toolUseId: 't', content: [{ video: { source: {} } }] } },
          ],
        },
      ],
      inferenceConfig: { topK: 5 },
      additionalModelRequestFields: { top_k: 5, anthropic_beta: ['x'] },
      additionalModelResponseFieldPaths: [],
      promptVariables: { a: { text: 'b' } },
      performanceConfig: { latency: 'standard' },
    })
    expect(nativeOnly).toEqual([
      'promptVariables',
      'inferenceConfig.topK',
      'additionalModelRequestFields.top_k',
      'system[0]',
      'messages[0].content[0]',
      'messages[0].content[1].document.citations',
      'messages[0].content[2].toolResult.content[0]',
    ])
  })
})
