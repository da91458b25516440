import type { Json, JsonObject } from '../../../json/json-value.ts'
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
} from '../../../upstream/outgoing-rules.ts'
import { CACHE_MARK } from '../../shared/requests/chat-rules.ts'
import { TRAINED } from '../../shared/tools/declared-tools.ts'

/** What may go out in `tools`: each kind of tool with all of its fields, in their exact spelling. */

/** Types of tools that the provider runs and charges for by tokens only. */
const FREE = /^(?:tool_search_tool|web_fetch)_[a-z0-9_]+$/

const OF_ALL: Readonly<Record<string, Rule>> = {
  type: SCALAR,
  name: SCALAR,
  cache_control: CACHE_MARK,
  strict: SCALAR,
  defer_loading: SCALAR,
  allowed_callers: SCALAR,
  input_examples: DATA,
}

/** A tool that the caller defines and runs. */
export const CUSTOM_TOOL = toObjectRule(
  { ...OF_ALL, description: SCALAR, input_schema: DATA, eager_input_streaming: SCALAR },
  'refused',
)

const TRAINED_TOOL = toObjectRule(
  {
    ...OF_ALL,
    display_width_px: SCALAR,
    display_height_px: SCALAR,
    display_number: SCALAR,
    enable_zoom: SCALAR,
    max_characters: SCALAR,
    // Of each member of a toolset.
    configs: DATA,
  },
  'reserved',
)

const FREE_TOOL = toObjectRule(
  {
    ...OF_ALL,
    max_uses: SCALAR,
    max_content_tokens: SCALAR,
    allowed_domains: SCALAR,
    blocked_domains: SCALAR,
    citations: toObjectRule({ enabled: SCALAR }),
    response_inclusion: SCALAR,
    use_cache: SCALAR,
    // From the results of which tools a page may be fetched. It names tools that are declared.
    url_sources: DATA,
  },
  'reserved',
)

/** Types of tools that the provider runs at a price for each use. */
const PRICED = /^web_search_\d{8}$/
/** Types of tools that the provider runs at prices that no answer tells. */
const UNPRICED = /^(?:code_execution|advisor)_\d{8}$/

const PRICED_TOOL = toObjectRule(
  {
    ...OF_ALL,
    max_uses: SCALAR,
    allowed_domains: SCALAR,
    blocked_domains: SCALAR,
    user_location: DATA,
    response_inclusion: SCALAR,
  },
  'refused',
)

/** The type of a tool that the provider runs, if the tool has no field that the gateway does not know. */
export function findPricedType(tool: JsonObject): string | undefined {
  const { type } = tool
  const isKnown = typeof type === 'string' && PRICED.test(type)
  return isKnown && PRICED_TOOL.check(tool, NO_GRANT) === undefined ? type : undefined
}

/** The rule of these tools does not depend on the grant. */
const NO_GRANT: Grant = {
  sender: 'key',
  model: '',
  isStream: false,
  choices: 1,
  maxOutputTokens: undefined,
  addresses: 'any',
}

export type ToolKind = 'custom' | 'trained' | 'free' | 'hosted' | 'unknown'

/**
 * `free`: the provider runs it, and charges for its tokens only. `hosted`: at a price of its own. `unknown`: another tool,
 * which the provider may run. A tool without a type is the caller's.
 */
export function toToolKind(type: Json | undefined): ToolKind {
  if (type === undefined || type === null || type === 'custom') return 'custom'
  if (typeof type !== 'string') return 'unknown'
  if (TRAINED.test(type)) return 'trained'
  if (FREE.test(type)) return 'free'
  return PRICED.test(type) || UNPRICED.test(type) ? 'hosted' : 'unknown'
}

const BY_KIND: ReadonlyMap<ToolKind, Rule> = new Map([
  ['custom', CUSTOM_TOOL],
  ['trained', TRAINED_TOOL],
  ['free', forKeys(FREE_TOOL)],
])

const TOOL: Rule = {
  check: (value, grant) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return ''
    const priced = findPricedType(value)
    if (priced !== undefined) return toHostedRule(priced, PRICED_TOOL).check(value, grant)
    return (BY_KIND.get(toToolKind(value.type)) ?? REFUSED).check(value, grant)
  },
}

export const TOOLS = toListRule(TOOL)

/** A tool that is declared among the messages: one that the caller runs. Nothing is reserved there for what a provider runs. */
export const OWN_TOOL: Rule = {
  check: (value, grant) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return ''
    const kind = toToolKind(value.type)
    return (kind === 'custom' ? CUSTOM_TOOL : kind === 'trained' ? TRAINED_TOOL : REFUSED).check(value, grant)
  },
}

export const TOOL_CHOICE = toObjectRule(
  { type: SCALAR, name: SCALAR, disable_parallel_tool_use: SCALAR },
  'reserved',
)
