import { encodeAwsEvent } from '@rideau/llm/frames/aws-event-frame'
import type { JsonObject } from '@rideau/llm/json/json-value'
import { block, event, MESSAGE_START, textBlock } from './scripted-anthropic.ts'
import { messageItem, responseFrames, responseOf } from './scripted-responses.ts'
import { chunk, DONE, json, type UpstreamAnswer, usageChunk } from './scripted-upstream.ts'

// biome-ignore lint: JSON of any format
type Body = any

/** A provider that signs its reasoning and refuses a conversation in which a turn of its own is not as it wrote it. */
export interface SigningProvider {
  readonly provider: string
  readonly model: string
  /** What the provider writes in the turn of a number: reasoning, a text and two calls; in the last one a text. */
  toTurn(turn: number): readonly JsonObject[]
  /** The answer with these parts, plain and as a stream. */
  toReply(parts: readonly JsonObject[]): UpstreamAnswer
  toStream(parts: readonly JsonObject[]): UpstreamAnswer
  /** Reads the provider's own turns in a request, and the ids of the results after each. */
  readTurns(body: Body): readonly (readonly JsonObject[])[]
  readResults(body: Body): readonly string[]
}

/** Turns with calls. */
export const TURNS = 5
const CALLS = ['a', 'b'] as const

const signatureOf = (turn: number): string => Buffer.from(`signature of turn ${turn} +/`).toString('base64')
const textOf = (turn: number): string => `Step ${turn}.`
const idOf = (turn: number, call: string): string => `call_${turn}_${call}`
const inputOf = (turn: number, call: string): JsonObject => ({ turn, call })
export const LAST_TEXT = 'Done.'

const sendStream =
  (contentType: string, frames: readonly (string | Uint8Array)[]): UpstreamAnswer =>
  res => {
    res.writeHead(200, { 'content-type': contentType })
    res.end(Buffer.concat(frames.map(frame => Buffer.from(frame))))
  }

/** The parts of a turn, from what the format makes of each. */
function toParts(
  turn: number,
  make: {
    reasoning(): JsonObject
    text(text: string): JsonObject
    call(id: string, input: JsonObject, at: number): JsonObject
  },
): JsonObject[] {
  if (turn > TURNS) return [make.text(LAST_TEXT)]
  const calls = CALLS.map((call, at) => make.call(idOf(turn, call), inputOf(turn, call), at))
  return [make.reasoning(), make.text(textOf(turn)), ...calls]
}

const isCalling = (parts: readonly JsonObject[]): boolean => parts.length > 1

const anthropic: SigningProvider = {
  provider: 'anthropic',
  model: 'anthropic/claude-sonnet-4-6',
  toTurn: turn =>
    toParts(turn, {
      // A turn whose thinking is hidden, and one whose thinking is encrypted.
      reasoning: () =>
        turn === 4
          ? { type: 'redacted_thinking', data: signatureOf(turn) }
          : {
              type: 'thinking',
              thinking: turn === 3 ? '' : `Thought ${turn}.`,
              signature: signatureOf(turn),
            },
      text: text => ({ type: 'text', text }),
      call: (id, input) => ({ type: 'tool_use', id, name: 'usual_tool', input }),
    }),
  toReply: parts =>
    json(200, {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: parts,
      stop_reason: isCalling(parts) ? 'tool_use' : 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    }),
  toStream: parts =>
    sendStream('text/event-stream', [
      MESSAGE_START,
      ...parts.flatMap((part, at) => toAnthropicBlock(part as Body, at)),
      event('message_delta', {
        delta: { stop_reason: isCalling(parts) ? 'tool_use' : 'end_turn', stop_sequence: null },
        usage: { output_tokens: 1 },
      }),
      event('message_stop'),
    ]),
  readTurns: ({ messages }) =>
    messages.filter(({ role }: Body) => role === 'assistant').map(({ content }: Body) => content),
  readResults: ({ messages }) =>
    messages.flatMap(({ content }: Body) =>
      Array.isArray(content)
        ? content.flatMap(({ type, tool_use_id: id }: Body) => (type === 'tool_result' ? [id] : []))
        : [],
    ),
}

function toAnthropicBlock(part: Body, at: number): string[] {
  if (part.type === 'text') return textBlock(at, part.text)
  if (part.type === 'redacted_thinking') return block(at, part)
  if (part.type === 'tool_use') {
    const partial_json = JSON.stringify(part.input)
    return block(at, { ...part, input: {} }, { type: 'input_json_delta', partial_json })
  }
  const { thinking, signature } = part
  const thought = thinking === '' ? [] : [{ type: 'thinking_delta', thinking }]
  const empty = { type: 'thinking', thinking: '', signature: '' }
  return block(at, empty, ...thought, { type: 'signature_delta', signature })
}

const converse: SigningProvider = {
  provider: 'bedrock',
  model: 'bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0',
  toTurn: turn =>
    toParts(turn, {
      reasoning: () => ({
        reasoningContent:
          turn === 4
            ? { redactedContent: signatureOf(turn) }
            : { reasoningText: { text: `Thought ${turn}.`, signature: signatureOf(turn) } },
      }),
      text: text => ({ text }),
      call: (toolUseId, input) => ({ toolUse: { toolUseId, name: 'usual_tool', input } }),
    }),
  toReply: parts =>
    json(200, {
      output: { message: { role: 'assistant', content: parts } },
      stopReason: isCalling(parts) ? 'tool_use' : 'end_turn',
      usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
    }),
  toStream: parts =>
    sendStream('application/vnd.amazon.eventstream', [
      encodeAwsEvent('messageStart', { role: 'assistant' }),
      ...parts.flatMap((part, at) => toConverseBlock(part as Body, at)),
      encodeAwsEvent('messageStop', { stopReason: isCalling(parts) ? 'tool_use' : 'end_turn' }),
      encodeAwsEvent('metadata', { usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } }),
    ]),
  readTurns: anthropic.readTurns,
  readResults: ({ messages }) =>
    messages.flatMap(({ content }: Body) =>
      content.flatMap(({ toolResult: result }: Body) => (result === undefined ? [] : [result.toolUseId])),
    ),
}

function toConverseBlock(part: Body, contentBlockIndex: number): Uint8Array[] {
  const add = (delta: JsonObject): Uint8Array =>
    encodeAwsEvent('contentBlockDelta', { contentBlockIndex, delta })
  const stop = encodeAwsEvent('contentBlockStop', { contentBlockIndex })
  if (part.text !== undefined) return [add({ text: part.text }), stop]
  if (part.toolUse !== undefined) {
    const { input, ...toolUse } = part.toolUse
    const start = encodeAwsEvent('contentBlockStart', { contentBlockIndex, start: { toolUse } })
    return [start, add({ toolUse: { input: JSON.stringify(input) } }), stop]
  }
  const { redactedContent, reasoningText } = part.reasoningContent
  if (redactedContent !== undefined) return [add({ reasoningContent: { redactedContent } }), stop]
  const { text, signature } = reasoningText
  return [add({ reasoningContent: { text } }), add({ reasoningContent: { signature } }), stop]
}

const gemini: SigningProvider = {
  provider: 'gemini',
  model: 'gemini/gemini-3-flash-preview',
  toTurn: turn =>
    toParts(turn, {
      reasoning: () => ({ text: `Thought ${turn}.`, thought: true }),
      text: text => ({ text }),
      // Of parallel calls the first one is signed.
      call: (id, args, at) => ({
        functionCall: { id, name: 'usual_tool', args },
        ...(at === 0 ? { thoughtSignature: signatureOf(turn) } : {}),
      }),
    }),
  toReply: parts => json(200, toGeminiChunk(parts, true)),
  toStream: parts =>
    sendStream(
      'text/event-stream',
      parts.map(
        (part, at) => `data: ${JSON.stringify(toGeminiChunk([part], at === parts.length - 1))}\r\n\r\n`,
      ),
    ),
  readTurns: ({ contents }) =>
    contents.filter(({ role }: Body) => role === 'model').map(({ parts }: Body) => parts),
  readResults: ({ contents }) =>
    contents.flatMap(({ parts }: Body) =>
      parts.flatMap(({ functionResponse: result }: Body) => (result === undefined ? [] : [result.id])),
    ),
}

function toGeminiChunk(parts: readonly JsonObject[], isLast: boolean): JsonObject {
  const candidate = { content: { role: 'model', parts: [...parts] }, index: 0 }
  const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }
  return isLast
    ? { candidates: [{ ...candidate, finishReason: 'STOP' }], usageMetadata }
    : { candidates: [candidate] }
}

const responses: SigningProvider = {
  provider: 'openai',
  model: 'openai/gpt-5-pro',
  toTurn: turn =>
    toParts(turn, {
      reasoning: () => ({
        type: 'reasoning',
        id: `rs_${turn}`,
        summary: [{ type: 'summary_text', text: `Thought ${turn}.` }],
        encrypted_content: signatureOf(turn),
      }),
      text: text => messageItem(text) as JsonObject,
      call: (id, input) => ({
        type: 'function_call',
        id: `fc_${id}`,
        call_id: id,
        name: 'usual_tool',
        arguments: JSON.stringify(input),
        status: 'completed',
      }),
    }),
  toReply: parts => responseOf(...parts),
  toStream: parts => sendStream('text/event-stream', responseFrames(...parts)),
  readTurns({ input }) {
    const turns: JsonObject[][] = []
    let isOpen = false
    for (const item of input) {
      const isOwn = item.role === 'assistant' || ['reasoning', 'function_call'].includes(item.type)
      if (isOwn && !isOpen) turns.push([])
      if (isOwn) turns.at(-1)?.push(item)
      isOpen = isOwn
    }
    return turns
  },
  readResults: ({ input }) =>
    input.flatMap(({ type, call_id: id }: Body) => (type === 'function_call_output' ? [id] : [])),
}

const openRouter: SigningProvider = {
  provider: 'openrouter',
  model: 'openrouter/anthropic/claude-sonnet-4.5',
  toTurn: turn =>
    turn > TURNS
      ? [{ role: 'assistant', content: LAST_TEXT }]
      : [
          {
            role: 'assistant',
            content: textOf(turn),
            reasoning_details: [
              {
                type: 'reasoning.text',
                format: 'anthropic-claude-v1',
                index: 0,
                text: `Thought ${turn}.`,
                signature: signatureOf(turn),
              },
            ],
            tool_calls: CALLS.map(call => ({
              id: idOf(turn, call),
              type: 'function',
              function: { name: 'usual_tool', arguments: JSON.stringify(inputOf(turn, call)) },
            })),
          },
        ],
  toReply: ([message = {}]) =>
    json(200, {
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message, finish_reason: 'tool_calls' in message ? 'tool_calls' : 'stop' }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    }),
  toStream([{ content, reasoning_details: details, tool_calls: calls } = {}]) {
    return sendStream('text/event-stream', [
      chunk({ role: 'assistant', content: '' }),
      ...(details === undefined ? [] : [chunk({ reasoning_details: details })]),
      chunk({ content }),
      ...((calls ?? []) as JsonObject[]).map((call, index) => chunk({ tool_calls: [{ index, ...call }] })),
      chunk({}, calls === undefined ? 'stop' : 'tool_calls'),
      usageChunk(),
      DONE,
    ])
  },
  readTurns: ({ messages }) =>
    messages.filter(({ role }: Body) => role === 'assistant').map((message: Body) => [message]),
  readResults: ({ messages }) =>
    messages.flatMap(({ role, tool_call_id: id }: Body) => (role === 'tool' ? [id] : [])),
}

export const SIGNING_PROVIDERS: readonly SigningProvider[] = [
  anthropic,
  converse,
  gemini,
  responses,
  openRouter,
]

/** The ids of the calls of all turns up to this one. */
export function listCallIds(turns: number): string[] {
  return Array.from({ length: turns }, (_, at) => CALLS.map(call => idOf(at + 1, call))).flat()
}
