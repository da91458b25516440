import type { Json, JsonObject } from '../../../json/json-value.ts'
import { invalid, isObject, listAt, objectAt, optionalText, textAt } from '../../shared/read-fields.ts'

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
const CHECKS: Readonly<Record<string, (block: JsonObject, path: string) => void>> = {
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
}

/** Kinds of tools that the caller runs itself, by how their types begin, and of those hosted ones that cost nothing apart. */
const FREE_TOOLS = ['bash_', 'text_editor_', 'computer_', 'memory_', 'tool_search_tool_', 'web_fetch_']

export function checkTools(body: JsonObject): void {
  if (body.tools === undefined || body.tools === null) return
  for (const [i, value] of listAt(body.tools, 'tools').entries()) {
    const path = `tools[${i}]`
    const tool = objectAt(value, path)
    const type = optionalText(tool, 'type', `${path}.type`) ?? 'custom'
    if (type === 'custom') {
      textAt(tool.name, `${path}.name`)
      if (tool.input_schema !== undefined) objectAt(tool.input_schema, `${path}.input_schema`)
    } else if (!FREE_TOOLS.some(prefix => type.startsWith(prefix))) {
      // A tool that the provider runs itself has a price of its own, which nothing here knows.
      throw invalid(`${path}.type`, 'names a tool that the provider hosts and charges for; none are offered.')
    }
  }
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
