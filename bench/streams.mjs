// One streamed answer of the same length in each wire format, one network chunk per event, as a provider sends tokens.
import { crc32 } from 'node:zlib'

const WORDS = ['The', ' quick', ' brown', ' fox', ' jumps', ' over', ' the', ' lazy', ' dog', '.']
export const DELTAS = 2000

const texts = Array.from({ length: DELTAS }, (_, index) => WORDS[index % WORDS.length])
const data = value => Buffer.from(`data: ${JSON.stringify(value)}\n\n`)
const named = value => Buffer.from(`event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`)

function openAiChat() {
  const head = {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    system_fingerprint: 'fp_1',
  }
  const chunk = (delta, finish_reason = null) =>
    data({ ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason }], usage: null })
  const usage = { prompt_tokens: 10, completion_tokens: DELTAS, total_tokens: DELTAS + 10 }
  return [
    chunk({ role: 'assistant', content: '' }),
    ...texts.map(content => chunk({ content })),
    chunk({}, 'stop'),
    data({ ...head, choices: [], usage }),
    Buffer.from('data: [DONE]\n\n'),
  ]
}

function anthropicMessages() {
  const usage = { input_tokens: 10, output_tokens: 1 }
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [],
    stop_reason: null,
    usage,
  }
  return [
    named({ type: 'message_start', message }),
    named({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    ...texts.map(text =>
      named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
    ),
    named({ type: 'content_block_stop', index: 0 }),
    named({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: DELTAS } }),
    named({ type: 'message_stop' }),
  ]
}

function openAiResponses() {
  let sequence_number = 0
  const event = (type, fields) => named({ type, sequence_number: sequence_number++, ...fields })
  const response = {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    status: 'in_progress',
    model: 'm',
    output: [],
  }
  const place = { item_id: 'msg_1', output_index: 0, content_index: 0 }
  const part = text => ({ type: 'output_text', text, annotations: [] })
  const item = (status, content) => ({ id: 'msg_1', type: 'message', role: 'assistant', status, content })
  const all = texts.join('')
  const done = item('completed', [part(all)])
  const usage = { input_tokens: 10, output_tokens: DELTAS, total_tokens: DELTAS + 10 }
  return [
    event('response.created', { response }),
    event('response.output_item.added', { output_index: 0, item: item('in_progress', []) }),
    event('response.content_part.added', { ...place, part: part('') }),
    ...texts.map(delta => event('response.output_text.delta', { ...place, delta, logprobs: [] })),
    event('response.output_text.done', { ...place, text: all }),
    event('response.output_item.done', { output_index: 0, item: done }),
    event('response.completed', { response: { ...response, status: 'completed', output: [done], usage } }),
  ]
}

function gemini() {
  const counts = { promptTokenCount: 10, candidatesTokenCount: DELTAS, totalTokenCount: DELTAS + 10 }
  const chunk = (text, more = {}) =>
    Buffer.from(
      `data: ${JSON.stringify({
        candidates: [{ content: { parts: [{ text }], role: 'model' }, index: 0, ...more }],
        usageMetadata: counts,
        modelVersion: 'm',
        responseId: 'r1',
      })}\r\n\r\n`,
    )
  return [...texts.map(text => chunk(text)), chunk('', { finishReason: 'STOP' })]
}

function bedrockConverse() {
  const usage = { inputTokens: 10, outputTokens: DELTAS, totalTokens: DELTAS + 10 }
  return [
    awsFrame('messageStart', { role: 'assistant' }),
    ...texts.map(text => awsFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { text } })),
    awsFrame('contentBlockStop', { contentBlockIndex: 0 }),
    awsFrame('messageStop', { stopReason: 'end_turn' }),
    awsFrame('metadata', { usage, metrics: { latencyMs: 1 } }),
  ]
}

/** AWS's event stream: lengths and headers with a checksum, the payload with another. */
function awsFrame(type, payload) {
  const header = (name, value) => {
    const lengths = Buffer.from([7, value.length >> 8, value.length & 255])
    return Buffer.concat([Buffer.from([name.length]), Buffer.from(name), lengths, Buffer.from(value)])
  }
  const headers = Buffer.concat([
    header(':event-type', type),
    header(':content-type', 'application/json'),
    header(':message-type', 'event'),
  ])
  const body = Buffer.from(JSON.stringify(payload))
  const frame = Buffer.alloc(16 + headers.length + body.length)
  frame.writeUInt32BE(frame.length, 0)
  frame.writeUInt32BE(headers.length, 4)
  frame.writeUInt32BE(crc32(frame.subarray(0, 8)), 8)
  headers.copy(frame, 12)
  body.copy(frame, 12 + headers.length)
  frame.writeUInt32BE(crc32(frame.subarray(0, -4)), frame.length - 4)
  return frame
}

function cohere() {
  const tokens = { input_tokens: 10, output_tokens: DELTAS }
  const usage = { billed_units: tokens, tokens }
  const message = { role: 'assistant', content: [], tool_plan: '', tool_calls: [], citations: [] }
  return [
    named({ id: 'm1', type: 'message-start', delta: { message } }),
    named({ type: 'content-start', index: 0, delta: { message: { content: { type: 'text', text: '' } } } }),
    ...texts.map(word =>
      named({ type: 'content-delta', index: 0, delta: { message: { content: { text: word } } } }),
    ),
    named({ type: 'content-end', index: 0 }),
    named({ type: 'message-end', delta: { finish_reason: 'COMPLETE', usage } }),
  ]
}

function ollama() {
  const line = (content, more) =>
    Buffer.from(
      `${JSON.stringify({
        model: 'm',
        created_at: '2026-01-01T00:00:00.000000Z',
        message: { role: 'assistant', content },
        ...more,
      })}\n`,
    )
  const end = { done: true, done_reason: 'stop', prompt_eval_count: 10, eval_count: DELTAS }
  return [...texts.map(content => line(content, { done: false })), line('', end)]
}

/** By id of the wire format, with a provider that uses it. */
export const STREAMS = {
  'openai-chat': { provider: 'openai', make: openAiChat },
  'anthropic-messages': { provider: 'anthropic', make: anthropicMessages },
  'openai-responses': { provider: 'openai', make: openAiResponses },
  'gemini-content': { provider: 'gemini', make: gemini },
  'bedrock-converse': { provider: 'bedrock', make: bedrockConverse },
  'cohere-v2': { provider: 'cohere', make: cohere },
  'ollama-chat': { provider: 'ollama', make: ollama },
}
