// OpenAI's responses, as its API takes and sends them.
import { checkFields, checkPairs, named, SIGNATURE, sendFrames, sendWhole, toWords } from './events.mjs'

export const ID = 'call_scripted'

const FIELDS = [
  ...[
    'model',
    'input',
    'instructions',
    'stream',
    'stream_options',
    'store',
    'include',
    'tools',
    'tool_choice',
  ],
  ...['parallel_tool_calls', 'reasoning', 'text', 'temperature', 'top_p', 'max_output_tokens', 'metadata'],
  ...['previous_response_id', 'prompt_cache_key', 'prompt_cache_retention', 'safety_identifier', 'user'],
  ...['service_tier', 'truncation', 'max_tool_calls', 'client_metadata', 'background', 'conversation'],
  ...['context_management', 'top_logprobs', 'prompt'],
]
const MAX_ID = 64
const CALLS = ['function_call', 'custom_tool_call', 'local_shell_call', 'tool_search_call']
const RESULTS = ['function_call_output', 'custom_tool_call_output', 'tool_search_output']

export { readKey } from './chat.mjs'

export function read(body) {
  checkFields(body, FIELDS)
  const items = typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : body.input
  const calls = items.filter(({ type }) => CALLS.includes(type))
  const results = items.filter(({ type }) => RESULTS.includes(type))
  for (const { call_id: id } of calls) if (id.length > MAX_ID) throw new Error(`string too long: ${id}`)
  checkPairs(
    calls.map(({ call_id }) => call_id),
    results.map(({ call_id }) => call_id),
  )
  const thinks = body.include?.includes('reasoning.encrypted_content') === true
  const signed = items.filter(item => item.type === 'reasoning')
  if (signed.some(({ encrypted_content: content }) => content !== SIGNATURE))
    throw new Error('the encrypted content of a reasoning item could not be verified')
  if (thinks && signed.length !== calls.length)
    throw new Error(`${calls.length} calls came back with ${signed.length} items of reasoning`)
  const added = items.flatMap(({ type, tools }) => (type === 'additional_tools' ? tools : []))
  return {
    format: 'openai-responses',
    model: body.model,
    isStream: body.stream === true,
    tools: [...(body.tools ?? []), ...added].flatMap(toNames),
    calls: calls.map(({ name, namespace, arguments: json, input }) => ({
      name: toName(namespace, name),
      args: json === undefined ? input : JSON.parse(json),
    })),
    results: results.map(({ output }) => (typeof output === 'string' ? output : JSON.stringify(output))),
    thinks,
  }
}

const toName = (namespace, name) => (namespace === undefined ? name : `${namespace}/${name}`)

/** A tool of a namespace is named `namespace/name`; a hosted one has its type for a name. */
function toNames({ type, name, tools }) {
  if (type === 'namespace') return tools.map(tool => toName(name, tool.name))
  return [name ?? type]
}

const USAGE = {
  input_tokens: 20,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 10,
  output_tokens_details: { reasoning_tokens: 6 },
  total_tokens: 30,
}

function toItems({ thinks }, { text, name: path, args, id }) {
  const [name, namespace] = path === undefined ? [] : path.split('/').reverse()
  const summary = [{ type: 'summary_text', text: 'Let me see.' }]
  const reasoning = { type: 'reasoning', id: `rs_${id}`, summary, encrypted_content: SIGNATURE }
  const content = [{ type: 'output_text', text, annotations: [], logprobs: [] }]
  const message = { type: 'message', id: 'msg_scripted', status: 'completed', role: 'assistant', content }
  const call = {
    ...(typeof args === 'string'
      ? { type: 'custom_tool_call', id: `ctc_${id}`, input: args }
      : { type: 'function_call', id: `fc_${id}`, arguments: JSON.stringify(args) }),
    status: 'completed',
    call_id: id,
    name,
    ...(namespace === undefined ? {} : { namespace }),
  }
  return [
    ...(thinks && name !== undefined ? [reasoning] : []),
    ...(text === undefined ? [] : [message]),
    ...(name === undefined ? [] : [call]),
  ]
}

export function write(res, conversation, turn, options) {
  const output = toItems(conversation, turn)
  const head = {
    id: 'resp_scripted',
    object: 'response',
    created_at: 1_700_000_000,
    error: null,
    incomplete_details: null,
    model: conversation.model,
  }
  const whole = { ...head, status: 'completed', output, usage: USAGE }
  if (!conversation.isStream) return sendWhole(res, whole, options)
  const events = [
    { type: 'response.created', response: { ...head, status: 'in_progress', output: [], usage: null } },
    ...output.flatMap(toEvents),
    { type: 'response.completed', response: whole },
  ]
  sendFrames(
    res,
    events.map((event, sequence_number) => named({ ...event, sequence_number })),
    options,
  )
}

function toEvents(item, output_index) {
  const at = { item_id: item.id, output_index }
  const whole = { type: 'response.output_item.done', output_index, item }
  const added = empty => ({ type: 'response.output_item.added', output_index, item: { ...item, ...empty } })
  if (item.type === 'message') {
    const part = { ...at, content_index: 0 }
    const [{ text }] = item.content
    return [
      added({ status: 'in_progress', content: [] }),
      { type: 'response.content_part.added', ...part, part: { ...item.content[0], text: '' } },
      ...toWords(text).map(delta => ({ type: 'response.output_text.delta', ...part, delta, logprobs: [] })),
      { type: 'response.output_text.done', ...part, text, logprobs: [] },
      { type: 'response.content_part.done', ...part, part: item.content[0] },
      whole,
    ]
  }
  if (item.type === 'reasoning') return [added({ summary: [] }), whole]
  if (item.type === 'custom_tool_call') {
    return [
      added({ status: 'in_progress', input: '' }),
      { type: 'response.custom_tool_call_input.delta', ...at, delta: item.input },
      { type: 'response.custom_tool_call_input.done', ...at, input: item.input },
      whole,
    ]
  }
  return [
    added({ status: 'in_progress', arguments: '' }),
    { type: 'response.function_call_arguments.delta', ...at, delta: item.arguments },
    { type: 'response.function_call_arguments.done', ...at, arguments: item.arguments },
    whole,
  ]
}
