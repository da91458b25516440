import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toArray, toObject } from '../../../json/json-value.ts'
import {
  DATA,
  type Grant,
  type Rule,
  SCALAR,
  toObjectRule,
  toUsualRule,
} from '../../../upstream/outgoing-rules.ts'
import { connects } from '../../shared/tools/connecting-tools.ts'

/** Tools of this format that the provider runs. */

const SEARCH_TOOL = toObjectRule(
  {
    type: SCALAR,
    search_context_size: SCALAR,
    filters: toObjectRule({ allowed_domains: SCALAR, excluded_domains: SCALAR }, 'refused'),
    user_location: DATA,
    external_web_access: SCALAR,
    index_gated_web_access: SCALAR,
    search_content_types: SCALAR,
    allowed_domains: SCALAR,
    excluded_domains: SCALAR,
    enable_image_understanding: SCALAR,
  },
  'refused',
)

const X_SEARCH_TOOL = toObjectRule(
  {
    type: SCALAR,
    allowed_x_handles: SCALAR,
    excluded_x_handles: SCALAR,
    from_date: SCALAR,
    to_date: SCALAR,
    enable_image_understanding: SCALAR,
    enable_video_understanding: SCALAR,
  },
  'refused',
)

/** A container of the usual size, made for this answer: another one has another price, or is the account's. */
const NEW_CONTAINER = toObjectRule(
  { type: toUsualRule(['auto']), memory_limit: toUsualRule(['1g']) },
  'refused',
)

const CODE_TOOL = toObjectRule({ type: SCALAR, container: NEW_CONTAINER }, 'refused')

/** Tools that the provider runs, in the forms whose price can be known. */
export const HOSTED_RULES: ReadonlyMap<string, Rule> = new Map([
  ['web_search', SEARCH_TOOL],
  ['web_search_2025_08_26', SEARCH_TOOL],
  ['x_search', X_SEARCH_TOOL],
  ['code_interpreter', CODE_TOOL],
])

/** The rules of these tools do not depend on the grant. */
const NO_GRANT: Grant = {
  sender: 'key',
  model: '',
  isStream: false,
  choices: 1,
  maxOutputTokens: undefined,
  addresses: 'any',
}

/** Other tools that a provider runs, which reach nothing of the account: none of them has a price that is known. */
const UNPRICED: ReadonlySet<string> = new Set([
  'web_search_preview',
  'web_search_preview_2025_03_11',
  'image_generation',
  'programmatic_tool_calling',
  'browser_search',
  'web_search_premium',
  'openrouter:web_search',
  'openrouter:web_fetch',
  'openrouter:datetime',
  'openrouter:image_generation',
])

/** Returns true if a tool that the provider runs, or one in its namespace, reaches another address or what the account stores. */
export function isConnector(value: Json): boolean {
  const tool = toObject(value)
  if (tool === undefined || tool.type === 'function' || tool.type === 'custom') return false
  return tool.type === 'namespace' ? toArray(tool.tools).some(isConnector) : connects(tool)
}

/**
 * A tool that the provider runs and that may be left out. `type`: where the provider has a price for it, the tool may be sent.
 * undefined: it is another tool, or reaches another address or what the account keeps.
 */
export function findHostedTool(tool: JsonObject): { readonly type: string | undefined } | undefined {
  const { type } = tool
  if (typeof type !== 'string' || connects(tool)) return undefined
  const rule = HOSTED_RULES.get(type)
  if (rule !== undefined) return { type: rule.check(tool, NO_GRANT) === undefined ? type : undefined }
  if (UNPRICED.has(type)) return { type: undefined }
  const isContainer = type === 'shell' && toObject(tool.environment)?.type === 'container_auto'
  return isContainer ? { type: undefined } : undefined
}
