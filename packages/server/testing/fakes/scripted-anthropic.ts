import { json, stream, type UpstreamAnswer } from './scripted-upstream.ts'

/** Answers in Anthropic's Messages format. */

const USAGE = {
  input_tokens: 12,
  cache_creation_input_tokens: 4,
  cache_read_input_tokens: 8,
  cache_creation: { ephemeral_5m_input_tokens: 1, ephemeral_1h_input_tokens: 3 },
  output_tokens: 5,
}

export function message(content: readonly object[], fields: Record<string, unknown> = {}): UpstreamAnswer {
  return json(200, {
    id: 'msg_scripted',
    type: 'message',
    role: 'assistant',
    model: 'scripted-model',
    content,
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: USAGE,
    ...fields,
  })
}

export function event(type: string, fields: Record<string, unknown> = {}): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`
}

export const MESSAGE_START = event('message_start', {
  message: {
    id: 'msg_scripted',
    type: 'message',
    role: 'assistant',
    model: 'scripted-model',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...USAGE, output_tokens: 1 },
  },
})

/** The events of one block, one for each delta. */
export function block(index: number, content_block: object, ...deltas: object[]): string[] {
  return [
    event('content_block_start', { index, content_block }),
    ...deltas.map(delta => event('content_block_delta', { index, delta })),
    event('content_block_stop', { index }),
  ]
}

export function textBlock(index: number, ...words: string[]): string[] {
  return block(index, { type: 'text', text: '' }, ...words.map(text => ({ type: 'text_delta', text })))
}

function messageEnd(stop_reason = 'end_turn'): string[] {
  return [
    event('message_delta', { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 5 } }),
    event('message_stop'),
  ]
}

/** A complete stream of these blocks. */
export function messageStream(blocks: readonly string[], stopReason?: string): UpstreamAnswer {
  return stream(MESSAGE_START, event('ping'), ...blocks, ...messageEnd(stopReason))
}
