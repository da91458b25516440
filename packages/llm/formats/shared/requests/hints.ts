/**
 * Names of parameters that only steer sampling or are hints: where a target cannot honour one, the request is answered
 * without it, and a header names it. Canonical names and those of every format, without the objects around them.
 */
const HINTS: ReadonlySet<string> = new Set([
  ...['temperature', 'top_p', 'topP', 'p', 'top_k', 'topK', 'k', 'top_a', 'min_p', 'typical_p', 'tfs_z'],
  ...['seed', 'random_seed', 'presence_penalty', 'presencePenalty', 'frequency_penalty', 'frequencyPenalty'],
  ...['repetition_penalty', 'repeat_penalty', 'repeat_last_n', 'mirostat', 'mirostat_tau', 'mirostat_eta'],
  ...['parallel_tool_calls', 'disable_parallel_tool_use', 'verbosity', 'effort'],
  ...[
    'reasoning_effort',
    'reasoning',
    'reasoning_split',
    'reasoning_format',
    'include_reasoning',
    'thinking',
  ],
  ...['enable_thinking', 'thinking_budget', 'thinkingConfig', 'think'],
  ...['reasoning_config', 'reasoningConfig'],
  ...[
    'cache_control',
    'cachePoint',
    'prompt_cache_key',
    'prompt_cache_retention',
    'prompt_cache_options',
    'safety_identifier',
  ],
  ...['metadata', 'client_metadata', 'requestMetadata', 'labels'],
  // What becomes of input that is too long: other providers refuse it.
  'truncation',
])

/** Fields of `reasoning`, which say how much of it is made and shown. */
const OF_REASONING = /^reasoning\.(?:effort|summary|generate_summary|context|exclude|max_tokens|enabled)$/

/** `path`: a wire name or a path, such as `options.top_k`. */
export function isHint(path: string): boolean {
  if (HINTS.has(path) || OF_REASONING.test(path)) return true
  const dot = path.lastIndexOf('.')
  return dot > 0 && SETTINGS.has(path.slice(0, dot)) && HINTS.has(path.slice(dot + 1))
}

/** Objects of parameters in the formats that have them. */
const SETTINGS: ReadonlySet<string> = new Set([
  'generationConfig',
  'options',
  'inferenceConfig',
  'additionalModelRequestFields',
  'text',
  'output_config',
  'tool_choice',
])
