// OpenAI's chat completions, as its API takes and sends them.
import { checkFields, checkPairs, sendFrames, sendWhole, toWords, unnamed } from './events.mjs'

export const ID = 'call_scripted'

const FIELDS = [
  ...['model', 'messages', 'stream', 'stream_options', 'tools', 'tool_choice', 'parallel_tool_calls', 'stop'],
  ...[
    'max_completion_tokens',
    'max_tokens',
    'temperature',
    'top_p',
    'n',
    'seed',
    'store',
    'metadata',
    'user',
  ],
  ...['reasoning_effort', 'verbosity', 'response_format', 'prompt_cache_key', 'safety_identifier'],
  ...['service_tier', 'frequency_penalty', 'presence_penalty', 'logit_bias', 'logprobs', 'top_logprobs'],
  ...['prompt_cache_retention', 'prediction', 'modalities', 'audio', 'web_search_options'],
]
const MAX_ID = 64

export const readKey = headers => headers.authorization?.replace(/^Bearer /, '')

export function read(body) {
  checkFields(body, FIELDS)
  const calls = body.messages.flatMap(({ tool_calls }) => tool_calls ?? [])
  const results = body.messages.filter(({ role }) => role === 'tool')
  for (const { id } of calls) if (id.length > MAX_ID) throw new Error(`string too long: ${id}`)
  checkPairs(
    calls.map(({ id }) => id),
    results.map(({ tool_call_id }) => tool_call_id),
  )
  return {
    format: 'openai-chat',
    model: body.model,
    isStream: body.stream === true,
    hasUsage: body.stream_options?.include_usage === true,
    tools: (body.tools ?? []).map(tool => tool.function.name),
    calls: calls.map(call => ({ name: call.function.name, args: JSON.parse(call.function.arguments) })),
    results: results.map(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content))),
  }
}

const USAGE = { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 }

export function write(res, { model, isStream, hasUsage }, { text, name, args, id }, options) {
  const call = { id, type: 'function', function: { name, arguments: JSON.stringify(args) } }
  const finish_reason = name === undefined ? 'stop' : 'tool_calls'
  const head = { id: 'chatcmpl-scripted', created: 1_700_000_000, model }
  if (!isStream) {
    const message = { role: 'assistant', content: text ?? null, refusal: null }
    if (name !== undefined) message.tool_calls = [call]
    const choices = [{ index: 0, message, logprobs: null, finish_reason }]
    return sendWhole(res, { ...head, object: 'chat.completion', choices, usage: USAGE }, options)
  }
  const chunk = fields => unnamed({ ...head, object: 'chat.completion.chunk', ...fields })
  const choice = (delta, reason = null) =>
    chunk({ choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }] })
  const frames = [
    choice({ role: 'assistant', content: '' }),
    ...(text === undefined ? [] : toWords(text).map(content => choice({ content }))),
    ...(name === undefined ? [] : [choice({ tool_calls: [{ index: 0, ...call }] })]),
    choice({}, finish_reason),
    ...(hasUsage ? [chunk({ choices: [], usage: USAGE })] : []),
    'data: [DONE]\n\n',
  ]
  sendFrames(res, frames, options)
}
