// Anthropic's messages, as its API takes and sends them.
import { checkFields, checkPairs, named, SIGNATURE, sendFrames, sendWhole, toWords } from './events.mjs'

export const ID = 'toolu_scripted'

const FIELDS = [
  ...['model', 'messages', 'max_tokens', 'metadata', 'stop_sequences', 'stream', 'system', 'thinking'],
  ...['tool_choice', 'tools', 'service_tier', 'context_management', 'output_config', 'output_format'],
  ...['cache_control', 'container', 'mcp_servers', 'inference_geo', 'diagnostics', 'speed', 'betas'],
  ...['temperature', 'top_p', 'top_k'],
]

export const readKey = headers => headers['x-api-key']

export function read(body) {
  checkFields(body, FIELDS)
  if (!Number.isInteger(body.max_tokens)) throw new Error('max_tokens: Field required')
  const blocks = body.messages.flatMap(({ role, content }) =>
    (typeof content === 'string' ? [{ type: 'text', text: content }] : content).map(each => ({
      ...each,
      role,
    })),
  )
  const calls = blocks.filter(({ type }) => type === 'tool_use')
  const results = blocks.filter(({ type }) => type === 'tool_result')
  checkPairs(
    calls.map(({ id }) => id),
    results.map(({ tool_use_id: id }) => id),
  )
  const thinks = body.thinking !== undefined && body.thinking.type !== 'disabled'
  const signed = blocks.filter(({ type, signature }) => type === 'thinking' && signature === SIGNATURE)
  if (blocks.some(({ type, signature }) => type === 'thinking' && signature !== SIGNATURE))
    throw new Error('Invalid `signature` in `thinking` block')
  if (thinks && signed.length !== calls.length)
    throw new Error(`${calls.length} calls came back with ${signed.length} signed blocks of thinking`)
  return {
    format: 'anthropic-messages',
    model: body.model,
    isStream: body.stream === true,
    tools: (body.tools ?? []).map(({ name }) => name),
    calls: calls.map(({ name, input }) => ({ name, args: input })),
    results: results.map(({ content }) => toText(content)),
    thinks,
  }
}

const toText = content => (typeof content === 'string' ? content : JSON.stringify(content))

const USAGE = {
  input_tokens: 12,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: 5,
  service_tier: 'standard',
}

export function write(res, { model, isStream, thinks }, { text, name, args, id }, options) {
  const blocks = [
    ...(thinks && name !== undefined
      ? [{ type: 'thinking', thinking: 'Let me see.', signature: SIGNATURE }]
      : []),
    ...(text === undefined ? [] : [{ type: 'text', text }]),
    ...(name === undefined ? [] : [{ type: 'tool_use', id, name, input: args }]),
  ]
  const stop_reason = name === undefined ? 'end_turn' : 'tool_use'
  const head = { id: 'msg_scripted', type: 'message', role: 'assistant', model, stop_sequence: null }
  if (!isStream) return sendWhole(res, { ...head, content: blocks, stop_reason, usage: USAGE }, options)
  const message = { ...head, content: [], stop_reason: null, usage: { ...USAGE, output_tokens: 1 } }
  const frames = [
    named({ type: 'message_start', message }),
    named({ type: 'ping' }),
    ...blocks.flatMap(toFrames),
    named({
      type: 'message_delta',
      delta: { stop_reason, stop_sequence: null },
      usage: { output_tokens: USAGE.output_tokens },
    }),
    named({ type: 'message_stop' }),
  ]
  sendFrames(res, frames, options)
}

function toFrames(block, index) {
  const start = content_block => named({ type: 'content_block_start', index, content_block })
  const delta = fields => named({ type: 'content_block_delta', index, delta: fields })
  const stop = named({ type: 'content_block_stop', index })
  if (block.type === 'text') {
    const words = toWords(block.text).map(text => delta({ type: 'text_delta', text }))
    return [start({ type: 'text', text: '' }), ...words, stop]
  }
  if (block.type === 'thinking') {
    const thinking = delta({ type: 'thinking_delta', thinking: block.thinking })
    const signature = delta({ type: 'signature_delta', signature: block.signature })
    return [start({ type: 'thinking', thinking: '', signature: '' }), thinking, signature, stop]
  }
  const json = delta({ type: 'input_json_delta', partial_json: JSON.stringify(block.input) })
  return [start({ ...block, input: {} }), json, stop]
}
