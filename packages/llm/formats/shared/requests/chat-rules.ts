import { isObject, toObject } from '../../../json/json-value.ts'
import {
  ADDRESS,
  DATA,
  ECHO,
  forEndUsers,
  MEDIA,
  REFUSED,
  type Rule,
  SCALAR,
  STORED,
  toListRule,
  toObjectRule,
  toRoleRule,
  toTextOrRule,
  toTypedRule,
  toUsualRule,
  UNREAD_CONTENT,
} from '../../../upstream/outgoing-rules.ts'
import { USUAL_REASONING_MODES } from '../../../upstream/reserved-names.ts'
import { isMessageOfStoredFiles, isStoredFiles } from '../reading/names-content.ts'
import { withDeclaredTools } from '../tools/declared-tools.ts'

/** What may go out in bodies of OpenAI's shape: its messages, tools, and the choice and format of the answer. */

/** A mark of prompt caching. */
export const CACHE_MARK = toObjectRule({ type: SCALAR, ttl: SCALAR, mode: SCALAR })

/** How long a cache keeps what is written unasked. Others cost more: an hour at Moonshot twice as much as input. */
export const CACHE_TTL = toUsualRule(['5m', '30m', '24h', 'in_memory', 'in-memory'])
export const CACHE_OPTIONS = toObjectRule({ mode: SCALAR, ttl: CACHE_TTL }, 'reserved')

const ROLE = toRoleRule(['system', 'developer', 'user', 'assistant', 'tool', 'function'])

/** The rule of a field that chooses a mode: in another mode another model answers. */
export const REASONING_MODE = toUsualRule(USUAL_REASONING_MODES)

const REASONING_DETAILS = toListRule(
  toObjectRule({
    type: SCALAR,
    text: SCALAR,
    summary: SCALAR,
    signature: SCALAR,
    data: SCALAR,
    format: SCALAR,
    id: SCALAR,
    index: SCALAR,
    via: SCALAR,
  }),
)

const CALLED = toObjectRule({ name: SCALAR, arguments: DATA, parsed_arguments: DATA, index: SCALAR })

export const TOOL_CALLS = toListRule(
  toObjectRule({
    id: SCALAR,
    type: SCALAR,
    index: SCALAR,
    function: CALLED,
    custom: toObjectRule({ name: SCALAR, input: DATA }),
    cache_control: CACHE_MARK,
    extra_content: ECHO,
  }),
)

export const IMAGE_URL = toTextOrRule(toObjectRule({ url: ADDRESS, detail: SCALAR }), ADDRESS)

/** OpenRouter reads a parsed file there again, with its images. Source: openrouter.ai/docs/features/multimodal/pdfs. */
const PARSED_FILE = toObjectRule({
  type: SCALAR,
  file: toObjectRule({
    hash: SCALAR,
    name: SCALAR,
    content: toListRule(toObjectRule({ type: SCALAR, text: SCALAR, image_url: IMAGE_URL })),
  }),
})
const ANNOTATION: Rule = {
  check: (value, grant) => (isObject(toObject(value)?.file) ? PARSED_FILE : ECHO).check(value, grant),
}
const ANNOTATIONS = toListRule(ANNOTATION)

/** The text of a part, which may stand for files. */
const SAID: Rule = {
  check: (value, grant) =>
    (grant.hasPlainTexts !== true && isStoredFiles(value) ? STORED : SCALAR).check(value, grant),
}

/** Fields that clients leave on a part of any kind when they send an answer back. */
const OF_PARTS: Readonly<Record<string, Rule>> = {
  type: SCALAR,
  cache_control: CACHE_MARK,
  prompt_cache_breakpoint: CACHE_MARK,
  annotations: ANNOTATIONS,
  citations: ECHO,
  role: ROLE,
  refusal: SCALAR,
  reasoning: SCALAR,
  reasoning_content: SCALAR,
  reasoning_details: REASONING_DETAILS,
  tool_calls: TOOL_CALLS,
  text: SAID,
  image_url: IMAGE_URL,
}

const FILE = toObjectRule({ filename: SCALAR, file_data: MEDIA, file_url: ADDRESS, file_id: STORED })
const TEXT_PARTS = toListRule(toObjectRule({ type: SCALAR, text: SAID }))

const PART = toTypedRule(
  {
    text: toObjectRule(OF_PARTS),
    refusal: toObjectRule(OF_PARTS),
    image_url: toObjectRule(OF_PARTS),
    input_audio: toObjectRule({ ...OF_PARTS, input_audio: toObjectRule({ data: MEDIA, format: SCALAR }) }),
    file: toObjectRule({ ...OF_PARTS, file: FILE }),
    thinking: toObjectRule({
      ...OF_PARTS,
      thinking: toTextOrRule(TEXT_PARTS),
      signature: SCALAR,
      closed: SCALAR,
    }),
  },
  UNREAD_CONTENT,
)

const MESSAGE_FIELDS = toObjectRule({
  role: ROLE,
  content: toTextOrRule(toListRule(PART)),
  name: SCALAR,
  tool_calls: TOOL_CALLS,
  tool_call_id: SCALAR,
  function_call: CALLED,
  refusal: SCALAR,
  reasoning: SCALAR,
  reasoning_content: SCALAR,
  reasoning_details: REASONING_DETAILS,
  cache_control: CACHE_MARK,
  annotations: ANNOTATIONS,
  is_error: SCALAR,
  // What a client made of the text.
  parsed: DATA,
  // The answer is to go on where the message ends.
  prefix: SCALAR,
  partial: SCALAR,
  // An answer in speech that the provider keeps.
  audio: STORED,
})

const MESSAGE: Rule = {
  check: (value, grant) => {
    const found = MESSAGE_FIELDS.check(value, grant)
    if (found !== undefined || grant.hasPlainTexts === true) return found
    return isMessageOfStoredFiles(value) ? '.content' : undefined
  },
}

export const FUNCTION = toObjectRule(
  { name: SCALAR, description: SCALAR, parameters: DATA, strict: SCALAR, cache_control: CACHE_MARK },
  'reserved',
)

/** OpenAI's `type` and `function`, the fields that brokers of Anthropic's models take, and what older clients repeat. */
export const FUNCTION_TOOL = toObjectRule(
  {
    type: SCALAR,
    function: FUNCTION,
    cache_control: CACHE_MARK,
    eager_input_streaming: SCALAR,
    defer_loading: SCALAR,
    input_examples: DATA,
    name: SCALAR,
    description: SCALAR,
    parameters: DATA,
    strict: SCALAR,
  },
  'refused',
)

/** A function: a provider runs every other kind of tool itself, at a price of its own. */
export const TOOL = toTypedRule({ function: FUNCTION_TOOL }, REFUSED, 'function')
export const TOOLS = toListRule(TOOL)

/** The provider judges the messages that a key sends. Only tools have a price there. */
export const MESSAGES = withDeclaredTools(
  forEndUsers(toListRule(MESSAGE)),
  {
    tool: TOOL,
    dataOfFields: {
      // Groq and Perplexity answer with what their own tools did.
      messages: ['tool_calls', 'function_call', 'parsed', 'executed_tools', 'reasoning_steps'],
      content: ['tool_calls'],
    },
  },
  'messages',
)

const NAMED = toObjectRule({ name: SCALAR }, 'reserved')

/** A choice among the declared tools. */
export const TOOL_CHOICE = toTextOrRule(
  toObjectRule(
    {
      type: SCALAR,
      name: SCALAR,
      function: NAMED,
      custom: NAMED,
      mode: SCALAR,
      tools: toListRule(toObjectRule({ type: SCALAR, name: SCALAR, function: NAMED, custom: NAMED })),
      allowed_tools: toObjectRule({
        mode: SCALAR,
        tools: toListRule(toObjectRule({ type: SCALAR, name: SCALAR, function: NAMED, custom: NAMED })),
      }),
    },
    'reserved',
  ),
)

export const NAMED_SCHEMA = toObjectRule({ name: SCALAR, description: SCALAR, schema: DATA, strict: SCALAR })

export const RESPONSE_FORMAT = toObjectRule({ type: SCALAR, json_schema: NAMED_SCHEMA, schema: DATA })

/** A schema stands beside its type. */
export const SCHEMA_FORMAT = toObjectRule({ type: SCALAR, json_schema: DATA, schema: DATA })

export const STREAM_OPTIONS = toObjectRule(
  { include_usage: SCALAR, include_obfuscation: SCALAR, continuous_usage_stats: SCALAR },
  'reserved',
)
