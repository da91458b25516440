import type { Json } from '../../../json/json-value.ts'
import { isObject } from '../../../json/json-value.ts'
import {
  DATA,
  forKeys,
  type Grant,
  REFUSED,
  type Rule,
  SCALAR,
  toHostedRule,
  toListRule,
  toObjectRule,
  toTextOrRule,
  toTypedRule,
} from '../../../upstream/outgoing-rules.ts'
import { CACHE_MARK } from '../../shared/requests/chat-rules.ts'
import { HOSTED_RULES } from './hosted-tools.ts'

/** What may go out in `tools`: tools that the caller runs, each with all of its fields. A provider runs all others. */

const FUNCTION_TOOL = toObjectRule(
  {
    type: SCALAR,
    name: SCALAR,
    description: SCALAR,
    parameters: DATA,
    strict: SCALAR,
    // Some editors nest a function as chat completions do.
    function: toObjectRule(
      { name: SCALAR, description: SCALAR, parameters: DATA, strict: SCALAR },
      'reserved',
    ),
    defer_loading: SCALAR,
    output_schema: DATA,
    input_examples: DATA,
    cache_control: CACHE_MARK,
    allowed_callers: SCALAR,
    id: SCALAR,
  },
  'refused',
)

const CUSTOM_TOOL = toObjectRule(
  {
    type: SCALAR,
    name: SCALAR,
    description: SCALAR,
    format: toObjectRule({ type: SCALAR, syntax: SCALAR, definition: SCALAR }),
    defer_loading: SCALAR,
    cache_control: CACHE_MARK,
    id: SCALAR,
  },
  'refused',
)

const LOCAL_SHELL = toObjectRule({ type: SCALAR }, 'refused')

/** A namespace may contain functions and custom tools only. */
const NAMESPACE = toObjectRule(
  {
    type: SCALAR,
    name: SCALAR,
    description: SCALAR,
    tools: toListRule(toTypedRule({ function: FUNCTION_TOOL, custom: CUSTOM_TOOL }, REFUSED)),
  },
  'refused',
)

const SEARCH_FIELDS = toObjectRule(
  { type: SCALAR, execution: SCALAR, description: SCALAR, parameters: DATA },
  'refused',
)
const PROVIDERS_SEARCH = forKeys(SEARCH_FIELDS)

/** A search among the caller's own tools. The provider runs it at no price of its own, unless the client does. */
const TOOL_SEARCH: Rule = {
  check: (value, grant) => (isClientSearch(value) ? SEARCH_FIELDS : PROVIDERS_SEARCH).check(value, grant),
}

function isClientSearch(value: Json): boolean {
  return isObject(value) && value.execution === 'client'
}

const COMPUTER = toObjectRule(
  { type: SCALAR, display_width: SCALAR, display_height: SCALAR, environment: SCALAR },
  'refused',
)

const SKILLS = toListRule(toObjectRule({ name: SCALAR, description: SCALAR, path: SCALAR }))

const SHELL = toObjectRule(
  {
    type: SCALAR,
    // On the caller's machine: a container of the provider has a price.
    environment: toTypedRule({ local: toObjectRule({ type: SCALAR, skills: SKILLS }, 'refused') }, REFUSED),
  },
  'refused',
)

const OWN_KINDS: Readonly<Record<string, Rule>> = {
  function: FUNCTION_TOOL,
  custom: CUSTOM_TOOL,
  local_shell: LOCAL_SHELL,
  apply_patch: LOCAL_SHELL,
  tool_search: TOOL_SEARCH,
  namespace: NAMESPACE,
  computer: COMPUTER,
  computer_use_preview: COMPUTER,
  shell: SHELL,
}

const TOOL = toTypedRule(
  {
    ...Object.fromEntries([...HOSTED_RULES].map(([type, rule]) => [type, toHostedRule(type, rule)])),
    ...OWN_KINDS,
  },
  REFUSED,
)

export const TOOLS = toListRule(TOOL)

/** A tool outside of a list of tools. Nothing is reserved there for what a provider runs. */
export const OWN_TOOL = toTypedRule(OWN_KINDS, REFUSED)

/** The grant of a caller with every right. A field that even such a caller may not send makes the provider run a tool. */
const EVERY_RIGHT: Grant = {
  sender: 'key',
  model: '',
  isStream: false,
  choices: 1,
  maxOutputTokens: undefined,
  addresses: 'any',
}

/** Returns true if the provider runs the tool, or a tool inside it. Unknown types and fields count as yes. */
export function isHostedTool(value: Json): boolean {
  return value === null || TOOL.check(value, EVERY_RIGHT) !== undefined
}

const CHOSEN = toObjectRule({ type: SCALAR, name: SCALAR, server_label: SCALAR })

export const TOOL_CHOICE = toTextOrRule(
  toObjectRule({ type: SCALAR, name: SCALAR, mode: SCALAR, tools: toListRule(CHOSEN) }, 'reserved'),
)
