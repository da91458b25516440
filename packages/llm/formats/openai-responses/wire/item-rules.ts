import type { Json } from '../../../json/json-value.ts'
import { toObject } from '../../../json/json-value.ts'
import {
  ADDRESS,
  DATA,
  ECHO,
  forKeys,
  MEDIA,
  type Rule,
  SCALAR,
  STORED,
  toListRule,
  toObjectRule,
  toRoleRule,
  toTextOrRule,
  toTypedRule,
  UNREAD_CONTENT,
} from '../../../upstream/outgoing-rules.ts'
import { CACHE_MARK } from '../../shared/requests/chat-rules.ts'
import { withDeclaredTools } from '../../shared/tools/declared-tools.ts'
import { isById } from './items-by-id.ts'
import { OWN_TOOL, TOOLS } from './tool-rules.ts'

/** What may go out in `input`. Items can bring tools. */

const OF_PARTS: Readonly<Record<string, Rule>> = {
  type: SCALAR,
  cache_control: CACHE_MARK,
  prompt_cache_breakpoint: CACHE_MARK,
  // A provider takes it at parts of every kind.
  file_id: STORED,
}

const TEXT = toObjectRule({
  ...OF_PARTS,
  text: SCALAR,
  annotations: ECHO,
  logprobs: DATA,
  // What a client made of the text.
  parsed: DATA,
})

const PART = toTypedRule(
  {
    input_text: TEXT,
    output_text: TEXT,
    text: TEXT,
    summary_text: TEXT,
    reasoning_text: TEXT,
    refusal: toObjectRule({ ...OF_PARTS, refusal: SCALAR }),
    input_image: toObjectRule({ ...OF_PARTS, image_url: ADDRESS, detail: SCALAR }),
    input_file: toObjectRule({
      ...OF_PARTS,
      filename: SCALAR,
      file_data: MEDIA,
      file_url: ADDRESS,
      detail: SCALAR,
    }),
    input_audio: toObjectRule({ ...OF_PARTS, input_audio: toObjectRule({ data: MEDIA, format: SCALAR }) }),
  },
  UNREAD_CONTENT,
)

const CONTENT = toTextOrRule(toListRule(PART))

const OF_ITEMS: Readonly<Record<string, Rule>> = {
  type: SCALAR,
  id: SCALAR,
  status: SCALAR,
  call_id: SCALAR,
  cache_control: CACHE_MARK,
  // A tool that the provider runs costs as much here as in the list of tools.
  tools: forKeys(TOOLS),
}

const OUTPUT = toObjectRule({ ...OF_ITEMS, output: CONTENT, name: SCALAR, namespace: SCALAR })

const REASONING = toObjectRule({
  ...OF_ITEMS,
  summary: CONTENT,
  content: CONTENT,
  encrypted_content: SCALAR,
  format: SCALAR,
  signature: SCALAR,
})

const SHELL_ACTION = toObjectRule({
  type: SCALAR,
  command: SCALAR,
  env: DATA,
  user: SCALAR,
  timeout_ms: SCALAR,
  working_directory: SCALAR,
})

/** An image that the provider made before. Without its bytes the provider looks it up by the id. */
const MADE_IMAGE: Rule = {
  check: (value, grant) => (hasBytes(value) ? UNREAD_CONTENT : STORED).check(value, grant),
}

function hasBytes(value: Json): boolean {
  const { result } = toObject(value) ?? {}
  return typeof result === 'string' && result !== ''
}

const ROLE = toRoleRule(['user', 'assistant', 'system', 'developer'])
const MESSAGE_FIELDS = toObjectRule({
  ...OF_ITEMS,
  role: ROLE,
  content: CONTENT,
  phase: SCALAR,
  name: SCALAR,
})

const MESSAGE: Rule = {
  check: (value, grant) => (isMessage(value) ? MESSAGE_FIELDS : STORED).check(value, grant),
}

function isMessage(value: Json): boolean {
  const { role, content } = toObject(value) ?? {}
  return typeof role === 'string' && content !== undefined && content !== null
}

const ANY_ITEM = toTypedRule(
  {
    message: MESSAGE,
    reasoning: REASONING,
    function_call: toObjectRule({
      ...OF_ITEMS,
      name: SCALAR,
      namespace: SCALAR,
      arguments: DATA,
      parsed_arguments: DATA,
    }),
    custom_tool_call: toObjectRule({ ...OF_ITEMS, name: SCALAR, namespace: SCALAR, input: DATA }),
    local_shell_call: toObjectRule({ ...OF_ITEMS, action: SHELL_ACTION }),
    function_call_output: OUTPUT,
    custom_tool_call_output: OUTPUT,
    local_shell_call_output: OUTPUT,
    item_reference: STORED,
    // Answers what the provider asked, which it keeps.
    mcp_approval_response: STORED,
    image_generation_call: MADE_IMAGE,
    // Tools from there on: of the same kinds as in the list of tools.
    additional_tools: toObjectRule({ ...OF_ITEMS, role: ROLE, tools: TOOLS }),
    tool_search_call: toObjectRule({ ...OF_ITEMS, execution: SCALAR, arguments: DATA }),
    tool_search_output: toObjectRule({ ...OF_ITEMS, execution: SCALAR, tools: TOOLS }),
  },
  UNREAD_CONTENT,
  'message',
)

/** A key may send both, so nothing is looked for in its items. */
const ITEM: Rule = {
  check: (value, grant) => (grant.sender !== 'key' && isById(value) ? STORED : ANY_ITEM).check(value, grant),
}

/** Items of every kind can bring tools in lists, which the parser reads and the gateway prices. */
export const INPUT = withDeclaredTools(toTextOrRule(toListRule(ITEM)), {
  tool: OWN_TOOL,
  tools: TOOLS,
  dataOfTypes: {
    function_call: ['arguments', 'parsed_arguments'],
    custom_tool_call: ['input'],
    tool_search_call: ['arguments'],
    output_text: ['parsed'],
    text: ['parsed'],
    // The action of a local shell's call.
    exec: ['env'],
  },
  // What the caller stored with a file that was found.
  dataOfFields: { results: ['attributes'] },
})
