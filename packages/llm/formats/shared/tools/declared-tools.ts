import type { Json, JsonObject } from '../../../json/json-value.ts'
import { type Grant, type Rule, SCALAR, toListRule, toObjectRule } from '../../../upstream/outgoing-rules.ts'
import { HOSTED_FIELDS, HOSTED_TOOL_FIELD } from '../../../upstream/reserved-lists.ts'
import { toPlainName } from '../../../upstream/reserved-names.ts'

/**
 * Tools among the messages of a request. A key may send content of kinds that the gateway does not know, but content of no
 * kind may declare a tool that the provider runs: nothing is priced or reserved for it there.
 */

/** Where a format has tools among its messages, and where the caller's own data. */
export interface DeclaredTools {
  /** The rule of a tool that the caller runs. */
  readonly tool: Rule
  /** The rule of a list that is called `tools`. Default: such tools. */
  readonly tools?: Rule
  /** What a field called `tool` may hold. Default: such a tool. A reference to a declared tool belongs here. */
  readonly change?: Rule
  /** Objects that declare tools, by their `type`. */
  readonly kinds?: Readonly<Record<string, Rule>>
  /** Fields that declare tools, by their plain names. */
  readonly fields?: Readonly<Record<string, Rule>>
  /** Fields of the caller's own data, by the `type` of the object that has them. No name or type in them has a meaning. */
  readonly dataOfTypes?: Readonly<Record<string, readonly string[]>>
  /** The same by the name of the field that holds the object, or the list of such objects. */
  readonly dataOfFields?: Readonly<Record<string, readonly string[]>>
}

/** Plain names of fields that hold tools: `tool`, `system_tool`, `toolsets`, `tool_config`. */
const TOOL_FIELD = /tools?$|toolsets?$|tool(?:config|declaration|definition|spec)s?$/
const HOSTED: ReadonlySet<string> = new Set(HOSTED_FIELDS.map(toPlainName))

/** Types of tools that the models of Anthropic are trained for and the caller runs. */
export const TRAINED = /^(?:bash|text_editor|computer|computer_toolset|browser_toolset|memory)_\d{8}$/
/** No content has a type that ends with a date. */
const DATED = /_\d{4}_?\d\d_?\d\d$/
/** Other types of tools that a provider runs. */
const HOSTED_TYPES: ReadonlySet<string> = new Set([
  ...['advisor', 'browser_search', 'builtin_function', 'code_execution', 'code_interpreter'],
  ...['collections_search', 'container_auto', 'document_library', 'enterprise_web_search', 'file_search'],
  ...['google_maps', 'google_search', 'google_search_retrieval', 'image_generation', 'live_search', 'mcp'],
  ...['mcp_toolset', 'programmatic_tool_calling', 'retrieval', 'tool_search', 'tool_search_tool_bm25'],
  ...['tool_search_tool_regex', 'url_context', 'web_browser', 'web_fetch', 'web_search'],
  ...['web_search_preview', 'web_search_premium', 'x_search'],
])
/** Frequent names that declare nothing. */
const CONTENT_FIELDS: ReadonlySet<string> = new Set([
  ...['content', 'cache_control', 'source', 'image_url', 'parts', 'toolUse', 'toolResult', 'functionCall'],
])
/** Other spellings of `type`, which some parsers take for it. */
const OTHER_TYPE = /^[^a-z]*t[^a-z]*y[^a-z]*p[^a-z]*e[^a-z]*$/i
/** Longer than any type of a tool. */
const MAX_TYPE = 64

/** Returns true for the type of a tool that a provider runs, in any case. No content of any format has such a type. */
function isHostedType(type: string): boolean {
  if (type.length > MAX_TYPE) return false
  const plain = type.toLowerCase()
  if (HOSTED_TYPES.has(plain) || plain.startsWith('openrouter:')) return true
  return DATED.test(plain) && !TRAINED.test(plain)
}

/** Which tool made a call. Its type is that of the tool. */
const CALLER = toObjectRule({ type: SCALAR, tool_id: SCALAR, caller_id: SCALAR }, 'refused')

/**
 * Returns the rule with a check of what the content declares. Client tokens need it only where the environment trusts them: they
 * may send no content that the rule does not know.
 */
export function withDeclaredTools(rule: Rule, places: DeclaredTools, holder = ''): Rule {
  const finder = new ToolFinder(places)
  return {
    ...rule,
    check: (value, grant) =>
      rule.check(value, grant) ??
      (grant.sender === 'end_user' ? undefined : finder.find(value, grant, holder)),
  }
}

/** Looks at each object and each list once, and at no text but types. */
class ToolFinder {
  readonly #tool: Rule
  readonly #tools: Rule
  readonly #change: Rule
  readonly #kinds: ReadonlyMap<string, Rule>
  readonly #fields: ReadonlyMap<string, Rule>
  readonly #dataOfTypes: ReadonlyMap<string, readonly string[]>
  readonly #dataOfFields: ReadonlyMap<string, readonly string[]>

  constructor(places: DeclaredTools) {
    this.#tool = places.tool
    this.#tools = places.tools ?? toListRule(places.tool)
    this.#change = places.change ?? places.tool
    this.#kinds = new Map(Object.entries(places.kinds ?? {}))
    this.#fields = new Map(Object.entries(places.fields ?? {}))
    this.#dataOfTypes = new Map(Object.entries(places.dataOfTypes ?? {}))
    this.#dataOfFields = new Map(Object.entries(places.dataOfFields ?? {}))
  }

  /**
   * Returns the path of the first part that declares a tool which the caller does not run. `holder`: the name of the field that
   * holds the value.
   */
  find(value: Json, grant: Grant, holder: string): string | undefined {
    if (typeof value !== 'object' || value === null) return undefined
    if (!Array.isArray(value)) return this.#findInObject(value, grant, holder)
    for (let at = 0; at < value.length; at++) {
      const found = this.find(value[at] as Json, grant, holder)
      if (found !== undefined) return `[${at}]${found}`
    }
    return undefined
  }

  #findInObject(object: JsonObject, grant: Grant, holder: string): string | undefined {
    const { type } = object
    const kind = typeof type === 'string' ? type : ''
    const rule = this.#kinds.get(kind)
    if (rule !== undefined) return rule.check(object, grant)
    if (isHostedType(kind)) return ''
    const ofType = this.#dataOfTypes.get(kind)
    const ofField = this.#dataOfFields.get(holder)
    for (const name in object) {
      const value = object[name]
      if (typeof value === 'string') {
        if (name !== 'type' && OTHER_TYPE.test(name) && isHostedType(value)) return `.${name}`
        continue
      }
      if (typeof value !== 'object' || value === null) continue
      if (ofType?.includes(name) === true || ofField?.includes(name) === true) continue
      const found = this.#findInField(name, value, grant)
      if (found !== undefined) return `.${name}${found}`
    }
    return undefined
  }

  #findInField(name: string, value: Json[] | JsonObject, grant: Grant): string | undefined {
    if (CONTENT_FIELDS.has(name)) return this.find(value, grant, name)
    const plain = toPlainName(name)
    const rule = this.#fields.get(plain)
    if (rule !== undefined) return rule.check(value, grant)
    if (HOSTED.has(plain) || HOSTED_TOOL_FIELD.test(plain)) return ''
    if (plain === 'tools') return this.#tools.check(value, grant)
    if (TOOL_FIELD.test(plain)) return findTool(value, plain === 'tool' ? this.#change : this.#tool, grant)
    if (name === 'caller' && CALLER.check(value, grant) === undefined) return undefined
    return this.find(value, grant, name)
  }
}

/** Checks a tool, or a list of tools and of names of tools. */
function findTool(value: Json[] | JsonObject, { check }: Rule, grant: Grant): string | undefined {
  if (!Array.isArray(value)) return check(value, grant)
  for (let at = 0; at < value.length; at++) {
    const entry = value[at]
    if (typeof entry !== 'object' || entry === null) continue
    const found = check(entry, grant)
    if (found !== undefined) return `[${at}]${found}`
  }
  return undefined
}
