import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObject, toText } from '../../../json/json-value.ts'
import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'
import type { ContentPart, Message, ToolCall } from '../../../request/message.ts'
import { hasCacheMark } from '../../shared/claude/cache-marks.ts'
import { encodeInput, FORMAT } from '../../shared/claude/claude-thinking.ts'
import { type MessageNotes, noteUnread } from '../../shared/reading/message-notes.ts'
import { invalid, objectAt, textAt } from '../../shared/reading/read-fields.ts'
import { FOREIGN_SIGNATURE } from '../../shared/reasoning/foreign-thinking.ts'
import { CARRIER_MARK } from '../../shared/reasoning/reasoning-carrier.ts'
import { markSandbox } from '../../shared/reasoning/sandbox-reasoning.ts'
import { toolCallIdAt, toolNameAt } from '../../shared/tools/call-fields.ts'
import { parseDocument, parseImage } from './parse-media.ts'
import { isMark } from './parse-tools.ts'

/** The blocks of one message, by what becomes of them. */
export interface Content {
  readonly parts: ContentPart[]
  /** Results of tools: messages of their own. */
  readonly results: Message[]
  readonly calls: ToolCall[]
  readonly details: ReasoningDetail[]
  /** The text of all thinking. */
  thinking: string
  /** True if signed thinking stands behind a text, so that it comes back to its place only if the texts stay apart. */
  isInterleaved: boolean
}

/**
 * A string or a list of blocks. Throws RequestError where a block that other providers get a translation of has the wrong
 * form; the provider judges the rest. `path`: of the content. `isOptional`: it may be absent.
 */
export function parseContent(
  value: Json | undefined,
  path: string,
  notes: MessageNotes,
  isOptional = false,
): Content {
  const content: Content = {
    parts: [],
    results: [],
    calls: [],
    details: [],
    thinking: '',
    isInterleaved: false,
  }
  if (isOptional && (value === undefined || value === null)) return content
  if (typeof value === 'string') {
    if (value !== '') content.parts.push({ type: 'text', text: value })
    return content
  }
  if (!Array.isArray(value)) throw invalid(path, 'must be a string or a list of blocks.')
  for (let index = 0; index < value.length; index++) {
    const at = `${path}[${index}]`
    const block = objectAt(value[index], at)
    parseBlock({ block, path: at, index }, content, notes)
  }
  return content
}

/** Parts as a message has them: nothing but text is one string, unless one of them has a mark of caching. */
export function joinTexts(parts: ContentPart[], separator: string): string | ContentPart[] {
  const isText = parts.every(({ type, cache_control }) => type === 'text' && cache_control === undefined)
  return isText ? parts.map(({ text }) => String(text)).join(separator) : parts
}

interface PlacedBlock {
  readonly block: JsonObject
  readonly path: string
  /** The position of the block in its message. */
  readonly index: number
}

type BlockParser = (placed: PlacedBlock, content: Content, notes: MessageNotes) => void

function parseBlock(placed: PlacedBlock, content: Content, notes: MessageNotes): void {
  const { block, path } = placed
  const parse = BLOCKS.get(textAt(block.type, `${path}.type`))
  if (parse === undefined) {
    noteUnread(block, path, notes)
    notes.asksForCaching ||= hasCacheMark(block)
    return
  }
  const before = content.parts.length
  parse(placed, content, notes)
  if (!isMark(block.cache_control)) return
  notes.asksForCaching = true
  const mark = toObject(block.cache_control)
  if (mark === undefined) return
  const last = content.parts.length > before ? content.parts.at(-1) : undefined
  if (last !== undefined) last.cache_control = mark
}

/** Blocks that have a canonical form. All others are what tools that the provider runs left in the conversation. */
const BLOCKS: ReadonlyMap<string, BlockParser> = new Map<string, BlockParser>([
  ['text', ({ block, path }, { parts }) => addText(parts, textAt(block.text, `${path}.text`))],
  ['image', parseImageBlock],
  ['document', parseDocumentBlock],
  ['search_result', parseSearchResult],
  ['tool_reference', ({ block }, { parts }) => addText(parts, toText(block.tool_name))],
  ['tool_use', parseToolUse],
  ['tool_result', parseToolResult],
  ['thinking', parseThinking],
  ['redacted_thinking', parseRedacted],
])

function addText(parts: ContentPart[], text: string | undefined): void {
  if (text !== undefined && text !== '') parts.push({ type: 'text', text })
}

/** One by one, because a call with a hundred thousand arguments exceeds the stack. */
function addParts(parts: ContentPart[], added: readonly ContentPart[]): void {
  for (const part of added) parts.push(part)
}

function parseImageBlock({ block, path }: PlacedBlock, { parts }: Content, notes: MessageNotes): void {
  const image = parseImage(objectAt(block.source, `${path}.source`))
  if (image === 'other') noteUnread(block, path, notes)
  else if (image !== undefined) parts.push(image)
}

function parseDocumentBlock({ block, path }: PlacedBlock, { parts }: Content, notes: MessageNotes): void {
  const source = objectAt(block.source, `${path}.source`)
  const title = toText(block.title)
  const context = toText(block.context)
  if (source.type !== 'text' && source.type !== 'content') {
    const file = parseDocument(source, title)
    // A stored file is not described: the id alone means nothing to another provider.
    if (file?.isStored === false) addText(parts, context)
    if (file !== undefined) parts.push(file.part)
    return
  }
  addText(parts, context)
  addText(parts, title)
  if (source.type === 'text') addText(parts, toText(source.data))
  else addParts(parts, parseContent(source.content, `${path}.source.content`, notes, true).parts)
}

function parseSearchResult({ block, path }: PlacedBlock, { parts }: Content, notes: MessageNotes): void {
  const head = [toText(block.title), toText(block.source)].filter(item => item !== undefined)
  addText(parts, head.join('\n'))
  addParts(parts, parseContent(block.content, `${path}.content`, notes, true).parts)
}

function parseToolUse({ block, path }: PlacedBlock, { calls }: Content, notes: MessageNotes): void {
  const id = toolCallIdAt(block.id, `${path}.id`)
  const name = toolNameAt(block.name, `${path}.name`)
  if (block.input !== undefined) objectAt(block.input, `${path}.input`)
  notes.carriesReasoning ||= id.includes(CARRIER_MARK)
  calls.push({ id, type: 'function', function: { name, arguments: encodeInput(block.input) } })
}

function parseToolResult({ block, path }: PlacedBlock, { results }: Content, notes: MessageNotes): void {
  const id = toolCallIdAt(block.tool_use_id, `${path}.tool_use_id`)
  notes.carriesReasoning ||= id.includes(CARRIER_MARK)
  const { parts } = parseContent(block.content, `${path}.content`, notes, true)
  const result: Message = { role: 'tool', tool_call_id: id, content: joinTexts(parts, '\n') }
  if (block.is_error === true) result.is_error = true
  if (isMark(block.cache_control)) result.cache_control = block.cache_control
  results.push(result)
}

function parseThinking({ block, index }: PlacedBlock, content: Content, notes: MessageNotes): void {
  const text = toText(block.thinking) ?? ''
  content.thinking += text
  const { signature } = block
  if (signature === FOREIGN_SIGNATURE) notes.carriesReasoning = true
  else if (typeof signature === 'string') {
    const detail = markSandbox({ type: 'reasoning.text', format: FORMAT, text, signature, index })
    // Not Claude's either: it is left out for Claude.
    notes.carriesReasoning ||= detail.via !== undefined
    addDetail(content, detail)
  }
}

function parseRedacted({ block: { data }, index }: PlacedBlock, content: Content): void {
  if (typeof data === 'string')
    addDetail(content, { type: 'reasoning.encrypted', format: FORMAT, data, index })
}

function addDetail(content: Content, detail: ReasoningDetail): void {
  content.isInterleaved ||= content.parts.length > 0
  content.details.push(detail)
}
