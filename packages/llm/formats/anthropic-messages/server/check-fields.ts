import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toTable } from '../../../json/to-table.ts'
import { invalid, isObject, listAt, objectAt, optionalText, textAt } from '../../shared/read-fields.ts'
import { refuseReservedFields } from '../../shared/reserved-fields.ts'
import { refuseOtherFields } from '../../shared/tool-fields.ts'

/** Checks of what the gateway relies on in a body of Anthropic's Messages; the provider judges the rest. */

const ROLES: ReadonlySet<Json | undefined> = new Set(['user', 'assistant', 'system'])

export function checkMessages(body: JsonObject): void {
  checkContent(body.system, 'system', true)
  const messages = listAt(body.messages, 'messages')
  if (messages.length === 0) throw invalid('messages', 'must have at least one message.')
  for (const [i, value] of messages.entries()) {
    const path = `messages[${i}]`
    const message = objectAt(value, path)
    if (!ROLES.has(message.role)) throw invalid(`${path}.role`, 'must be user or assistant.')
    checkContent(message.content, `${path}.content`, false)
  }
}

function checkContent(content: Json | undefined, path: string, isOptional: boolean): void {
  if (typeof content === 'string') return
  if (isOptional && (content === undefined || content === null)) return
  if (!Array.isArray(content)) throw invalid(path, 'must be a string or a list of blocks.')
  for (const [i, value] of content.entries()) {
    const at = `${path}[${i}]`
    const block = objectAt(value, at)
    CHECKS[textAt(block.type, `${at}.type`)]?.(block, at)
  }
}

/** Blocks that other providers get a translation of. */
const CHECKS: Readonly<Record<string, (block: JsonObject, path: string) => void>> = toTable({
  text: (block, path) => textAt(block.text, `${path}.text`),
  image: (block, path) => objectAt(block.source, `${path}.source`),
  document: (block, path) => objectAt(block.source, `${path}.source`),
  tool_use: (block, path) => {
    textAt(block.id, `${path}.id`)
    textAt(block.name, `${path}.name`)
    if (block.input !== undefined) objectAt(block.input, `${path}.input`)
  },
  tool_result: (block, path) => {
    textAt(block.tool_use_id, `${path}.tool_use_id`)
    checkContent(block.content, `${path}.content`, true)
  },
})

/** Fields of a tool that the caller defines and runs. */
const CUSTOM: ReadonlySet<string> = new Set([
  ...['type', 'name', 'description', 'input_schema', 'cache_control', 'strict', 'input_examples'],
  ...['defer_loading', 'eager_input_streaming', 'allowed_callers'],
])
/** Types of tools that the models know and the caller runs. */
const TRAINED = /^(?:bash|text_editor|computer|computer_toolset|memory)_\d{8}$/
/** Types of tools that the provider runs and charges by tokens only. */
const FREE = /^(?:tool_search_tool|web_fetch)_[a-z0-9_]+$/

export function checkTools(body: JsonObject): void {
  if (body.tools === undefined || body.tools === null) return
  for (const [i, value] of listAt(body.tools, 'tools').entries()) {
    const path = `tools[${i}]`
    const tool = objectAt(value, path)
    const type = optionalText(tool, 'type', `${path}.type`) ?? 'custom'
    if (type === 'custom') {
      refuseOtherFields(tool, CUSTOM, path)
      textAt(tool.name, `${path}.name`)
      if (tool.input_schema !== undefined) objectAt(tool.input_schema, `${path}.input_schema`)
    } else if (TRAINED.test(type) || FREE.test(type)) {
      refuseReservedFields(tool, TYPED, path)
    } else {
      // A tool that the provider runs itself has a price of its own, which nothing here knows.
      throw invalid(`${path}.type`, 'names a tool that the provider hosts and charges for; none are offered.')
    }
  }
}

const TYPED: ReadonlySet<string> = new Set(['type', 'name'])

/** Returns the path of the first tool that the provider runs, or undefined. `body` has passed checkTools. */
export function findHosted({ tools }: JsonObject): string | undefined {
  if (!Array.isArray(tools)) return undefined
  const at = tools.findIndex(tool => isObject(tool) && typeof tool.type === 'string' && FREE.test(tool.type))
  return at < 0 ? undefined : `tools[${at}]`
}

export function checkToolChoice(body: JsonObject): void {
  const choice = body.tool_choice
  if (choice === undefined || choice === null) return
  if (!isObject(choice)) throw invalid('tool_choice', 'must be an object.')
  textAt(choice.type, 'tool_choice.type')
  if (choice.type === 'tool') textAt(choice.name, 'tool_choice.name')
}

export function checkStopSequences(body: JsonObject): void {
  if (body.stop_sequences === undefined || body.stop_sequences === null) return
  for (const [i, value] of listAt(body.stop_sequences, 'stop_sequences').entries())
    textAt(value, `stop_sequences[${i}]`)
}
