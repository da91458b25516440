import type { Json, JsonObject } from '../../../json/json-value.ts'
import { isObject, toObjects } from '../../../json/json-value.ts'
import { toTable } from '../../../json/to-table.ts'
import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'
import { excerptName } from '../../../request/bounded-excerpt.ts'
import type { Message, ToolCall } from '../../../request/message.ts'
import { toArgumentsText } from '../../shared/reading/arguments-text.ts'
import { namesUnreadContent } from '../../shared/reading/names-content.ts'
import { listAt, objectAt, textAt } from '../../shared/reading/read-fields.ts'
import { isLongToolCallId } from '../../shared/reasoning/reasoning-carrier.ts'
import type { CalledTool } from '../../shared/requests/parsed-chat.ts'
import { toolCallIdAt, toolNameAt } from '../../shared/tools/call-fields.ts'
import { InnerTexts } from '../../shared/tools/inner-texts.ts'
import { isPacked, unpackReasoning } from '../wire/carried-reasoning.ts'
import { isConnector } from '../wire/hosted-tools.ts'
import { isById } from '../wire/items-by-id.ts'
import { isMintedId, mintedReference, unpackCall } from '../wire/minted-items.ts'
import { isHostedTool } from '../wire/tool-rules.ts'
import { addHosted, type InputFindings, isMarked, MAX_HOSTED } from './input-findings.ts'
import { parseAnswer, parseContent } from './parse-content.ts'
import { isToolItem } from './parse-item-tools.ts'
import { namespaceAt } from './parse-tools.ts'
import type { ToolTable } from './tool-table.ts'

/**
 * The input of a request as messages. An assistant's reasoning, text and calls are items of their own here, and one
 * message in the canonical form. What not every target can honour is added to `findings`.
 */
export function parseInput(value: Json | undefined, table: ToolTable, findings: InputFindings): Message[] {
  if (typeof value === 'string') return [{ role: 'user', content: value }]
  const parser = new InputParser(table, findings)
  for (const [at, item] of listAt(value, 'input').entries()) {
    const path = `input[${at}]`
    parser.parseItem(objectAt(item, path), path)
  }
  return parser.finish()
}

/** What an assistant did since the last message of another role. */
interface AssistantMessage {
  text: string
  reasoning: string
  readonly calls: ToolCall[]
  readonly details: ReasoningDetail[]
}

class InputParser {
  readonly #table: ToolTable
  readonly #findings: InputFindings
  readonly #messages: Message[] = []
  readonly #carried = new InnerTexts()
  #assistant: AssistantMessage | undefined

  constructor(table: ToolTable, findings: InputFindings) {
    this.#table = table
    this.#findings = findings
  }

  parseItem(item: JsonObject, path: string): void {
    const type = item.type === undefined || item.type === null ? 'message' : textAt(item.type, `${path}.type`)
    if (isById(item)) this.#findings.itemsById.push(path)
    if (carriesState(item)) this.#findings.carriesReasoning = true
    const parse = ITEM_PARSERS[type]
    if (isToolItem(item)) {
      // parseItemTools has read their tools.
      SEARCH_PARSERS[type]?.(this, item, path)
    } else if (parse !== undefined) {
      parse(this, item, path)
      for (const hosted of this.#listTools(item, path, MAX_HOSTED + 1))
        addHosted(this.#findings, hosted, false)
    } else if (type === 'item_reference') this.#parseReference(item, path)
    else {
      // An item of another kind can bring tools, and goes to a target of this format only.
      const hosted = this.#findNestedTools(item, path)
      if (hosted !== undefined) addHosted(this.#findings, hosted, false)
      this.#findings.nativeOnly.push(path)
      if (namesUnreadContent(item, this.#findings.textsLeft)) this.#findings.unmeasured.push(path)
    }
  }

  finish(): Message[] {
    this.#endAssistant()
    return this.#messages
  }

  parseMessage(item: JsonObject, path: string): void {
    const role = textAt(item.role, `${path}.role`)
    if (role === 'assistant') {
      // A text after calls begins another message.
      if (this.#assistant !== undefined && this.#assistant.calls.length > 0) this.#endAssistant()
      this.#openAssistant().text += parseAnswer(item.content, `${path}.content`, this.#findings)
      return
    }
    const known = role === 'system' || role === 'developer' ? role : 'user'
    this.#add({ role: known, content: parseContent(item.content, `${path}.content`, this.#findings) })
  }

  parseReasoning(item: JsonObject, path: string): void {
    const assistant = this.#openAssistant()
    const data = item.encrypted_content
    const isEncrypted = typeof data === 'string' && data !== ''
    // What the provider encrypted itself has the whole reasoning, of which the text is a summary only.
    if (!isEncrypted || isPacked(data)) assistant.reasoning += readReasoningText(item)
    if (!isEncrypted) return
    this.#carried.addCarried(data)
    const fault = this.#carried.findFault(path)
    if (fault !== undefined) throw fault
    const own = typeof item.id === 'string' ? { id: item.id } : {}
    for (const detail of unpackReasoning(data, own)) assistant.details.push(detail)
  }

  parseCall(item: JsonObject, tool: CalledTool, args: string, path: string): void {
    const name = this.#table.nameOf(tool.name, tool.namespace, tool.kind)
    this.#openAssistant().calls.push({
      id: toolCallIdAt(item.call_id, `${path}.call_id`),
      type: 'function',
      function: { name, arguments: args === '' ? '{}' : args },
    })
  }

  /** Follows references to calls only. References to the gateway's other items are left out, as it stores no answers. */
  #parseReference(item: JsonObject, path: string): void {
    const id = mintedReference(item)
    if (id === undefined) {
      const list = isOfReasoning(item) ? this.#findings.storedReasoning : this.#findings.storedStatePaths
      list.push(path)
      return
    }
    // A provider of the format does not know the item either.
    this.#findings.carriesReasoning = true
    this.#carried.addCarried(id)
    const fault = this.#carried.findFault(path)
    if (fault !== undefined) throw fault
    const call = unpackCall(id)
    if (call === undefined) return
    const { callId, arguments: args } = call
    const name = toolNameAt(call.name, `${path}.id`)
    this.#openAssistant().calls.push({ id: callId, type: 'function', function: { name, arguments: args } })
  }

  /** A search that the caller ran. Its result is the names of the tools that it found. */
  parseFound(item: JsonObject, path: string): void {
    const tools = toObjects(item.tools).map(({ name, namespace }) => ({ name, namespace }))
    const content = JSON.stringify({ status: item.status ?? 'completed', tools })
    this.#add({ role: 'tool', tool_call_id: toolCallIdAt(item.call_id, `${path}.call_id`), content })
  }

  parseOutput(id: Json | undefined, output: Json | undefined, path: string): void {
    const content =
      typeof output === 'string' || Array.isArray(output)
        ? parseContent(output, `${path}.output`, this.#findings)
        : JSON.stringify(output ?? '')
    this.#add({ role: 'tool', tool_call_id: toolCallIdAt(id, `${path}.call_id`), content })
  }

  /**
   * Returns the path of the first hosted tool in lists called `tools`, in any case and at any depth, and finds marks of
   * caching. The item is dropped with any of its tools, so one path is enough.
   */
  #findNestedTools(value: Json | undefined, path: string): string | undefined {
    let found: string | undefined
    if (Array.isArray(value)) {
      for (const item of value) {
        const hosted = this.#findNestedTools(item, path)
        found ??= hosted
      }
      return found
    }
    if (!isObject(value)) return undefined
    found = this.#listTools(value, path, 1)[0]
    for (const name in value) {
      if (isToolList(name)) continue
      const inner = value[name]
      if (typeof inner !== 'object') continue
      const hosted = this.#findNestedTools(inner, `${path}.${excerptName(name)}`)
      found ??= hosted
    }
    return found
  }

  /** Returns paths of hosted tools in the lists called `tools` of an object, `most` at most, and finds marks of caching. */
  #listTools(item: JsonObject, path: string, most: number): readonly string[] {
    if (isMarked(item)) this.#findings.hasCacheMark = true
    const hosted: string[] = []
    for (const name in item) {
      const value = item[name]
      if (value === null || value === undefined || !isToolList(name)) continue
      for (const [index, tool] of (Array.isArray(value) ? value : [value]).entries()) {
        if (isMarked(tool)) this.#findings.hasCacheMark = true
        if (isConnector(tool) && isHostedTool(tool))
          this.#findings.connectors.push(`${path}.${name}[${index}]`)
        if (hosted.length < most && isHostedTool(tool)) hosted.push(`${path}.${name}[${index}]`)
      }
    }
    return hosted
  }

  #openAssistant(): AssistantMessage {
    this.#assistant ??= { text: '', reasoning: '', calls: [], details: [] }
    return this.#assistant
  }

  #endAssistant(): void {
    const open = this.#assistant
    this.#assistant = undefined
    if (open === undefined || (open.text === '' && open.calls.length === 0)) return
    const message: Message = { role: 'assistant', content: open.text === '' ? null : open.text }
    if (open.reasoning !== '') message.reasoning = open.reasoning
    if (open.calls.length > 0) message.tool_calls = open.calls
    if (open.details.length > 0) message.reasoning_details = open.details
    this.#messages.push(message)
  }

  #add(message: Message): void {
    this.#endAssistant()
    this.#messages.push(message)
  }
}

/** Returns true if a reference leads to reasoning. Providers of the format show the kind of an item by the beginning of its id. */
function isOfReasoning({ id }: JsonObject): boolean {
  return typeof id === 'string' && id.startsWith('rs_')
}

/** The reasoning of a model that shows it; models in the open show it as `content`, others as `summary`. */
function readReasoningText({ content, summary }: JsonObject): string {
  return joinTexts(content) || joinTexts(summary)
}

function joinTexts(parts: Json | undefined): string {
  return toObjects(parts)
    .map(({ text }) => (typeof text === 'string' ? text : ''))
    .join('')
}

/** The length above which an id of the gateway carries a call. */
const MAX_PLAIN_ID = 50

/** Calls and results of every kind have an id that may carry state, or be too long; reasoning has it in its encrypted content. */
function carriesState({ id: itemId, call_id: id, encrypted_content: data }: JsonObject): boolean {
  if (typeof itemId === 'string' && itemId.length > MAX_PLAIN_ID && isMintedId(itemId)) return true
  return (typeof id === 'string' && isLongToolCallId(id)) || (typeof data === 'string' && isPacked(data))
}

function isToolList(name: string): boolean {
  return /^tools$/i.test(name)
}

const LOCAL_SHELL: CalledTool = { kind: 'local_shell', name: 'local_shell' }
const TOOL_SEARCH: CalledTool = { kind: 'tool_search', name: 'tool_search' }

function toCalled(item: JsonObject, kind: CalledTool['kind'], path: string): CalledTool {
  const name = toolNameAt(item.name, `${path}.name`)
  const { namespace } = item
  if (typeof namespace !== 'string') return { kind, name }
  return { kind, name, namespace: namespaceAt(namespace, `${path}.namespace`) }
}

type ItemParser = (parser: InputParser, item: JsonObject, path: string) => void

const parseOutput: ItemParser = (parser, item, path) =>
  parser.parseOutput(item.call_id ?? item.id, item.output, path)

const ITEM_PARSERS: Readonly<Record<string, ItemParser | undefined>> = toTable({
  message: (parser, item, path) => parser.parseMessage(item, path),
  reasoning: (parser, item, path) => parser.parseReasoning(item, path),
  function_call: (parser, item, path) =>
    parser.parseCall(
      item,
      toCalled(item, 'function', path),
      textAt(item.arguments, `${path}.arguments`),
      path,
    ),
  custom_tool_call: (parser, item, path) =>
    parser.parseCall(
      item,
      toCalled(item, 'custom', path),
      toArgumentsText({ input: item.input ?? '' }),
      path,
    ),
  local_shell_call: (parser, item, path) => {
    const { command, working_directory, timeout_ms } = objectAt(item.action, `${path}.action`)
    const args = toArgumentsText({ command, working_directory, timeout_ms })
    parser.parseCall(item, LOCAL_SHELL, args, path)
  },
  function_call_output: parseOutput,
  custom_tool_call_output: parseOutput,
  local_shell_call_output: parseOutput,
})

/** The parsers of the items of a search for tools that the caller ran. */
const SEARCH_PARSERS: Readonly<Record<string, ItemParser | undefined>> = toTable({
  tool_search_call: (parser, item, path) =>
    parser.parseCall(item, TOOL_SEARCH, toArgumentsText(item.arguments ?? {}), path),
  tool_search_output: (parser, item, path) => parser.parseFound(item, path),
})
