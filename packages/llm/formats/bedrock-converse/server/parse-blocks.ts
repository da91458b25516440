import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toJsonText, toObject, toText } from '../../../json/json-value.ts'
import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'
import type { ContentPart, Message, ToolCall } from '../../../request/message.ts'
import { hasCacheMark } from '../../shared/claude/cache-marks.ts'
import { FORMAT } from '../../shared/claude/claude-thinking.ts'
import { toArgumentsText } from '../../shared/reading/arguments-text.ts'
import { type MessageNotes, noteUnread } from '../../shared/reading/message-notes.ts'
import { holdsPackedFile } from '../../shared/reading/names-content.ts'
import { listAt, objectAt, textAt } from '../../shared/reading/read-fields.ts'
import { FOREIGN_SIGNATURE } from '../../shared/reasoning/foreign-thinking.ts'
import { CARRIER_MARK } from '../../shared/reasoning/reasoning-carrier.ts'
import { markSandbox } from '../../shared/reasoning/sandbox-reasoning.ts'
import { toolCallIdAt, toolNameAt } from '../../shared/tools/call-fields.ts'
import {
  addDocument,
  addText,
  addTextsOf,
  hasCitations,
  parseMedia,
  toAudioPart,
  toImagePart,
} from './parse-media.ts'

/** The blocks of one message, by what becomes of them. */
export interface Content {
  readonly parts: ContentPart[]
  /** Results of tools: messages of their own. */
  readonly results: Message[]
  readonly calls: ToolCall[]
  readonly details: ReasoningDetail[]
  /** The text of all reasoning. */
  reasoning: string
  /** The index of the block that is parsed. Cache points have none, since they are in no answer. */
  index: number
}

/**
 * A list of blocks. Throws RequestError where a block that other providers get a translation of has the wrong form; the
 * provider judges the rest. `path`: of the list.
 */
export function parseBlocks(value: Json | undefined, path: string, notes: MessageNotes): Content {
  const content: Content = {
    parts: [],
    results: [],
    calls: [],
    details: [],
    reasoning: '',
    index: 0,
  }
  const blocks = listAt(value, path)
  let isBehindResult = false
  for (let index = 0; index < blocks.length; index++) {
    const at = `${path}[${index}]`
    const block = objectAt(blocks[index], at)
    if (isSet(block.cachePoint)) {
      // A cache point is a mark on the result or part before it.
      const marked = isBehindResult ? content.results.at(-1) : content.parts.at(-1)
      if (marked !== undefined) marked.cache_control = toCacheControl(block.cachePoint)
      notes.asksForCaching = true
    }
    parseBlock(block, at, content, notes)
    if (!isSet(block.cachePoint)) content.index++
    isBehindResult = isSet(block.toolResult)
  }
  return content
}

export function toCacheControl(point: Json | undefined): JsonObject {
  return toObject(point)?.ttl === '1h' ? { type: 'ephemeral', ttl: '1h' } : { type: 'ephemeral' }
}

/** Parts as a message has them: a single text without a mark of caching is a string. */
export function toContent(parts: ContentPart[]): string | ContentPart[] {
  const [first] = parts
  if (first === undefined) return ''
  const isText = parts.length === 1 && first.type === 'text' && first.cache_control === undefined
  return isText ? String(first.text) : parts
}

/** Null means absent. */
export function isSet(value: Json | undefined): boolean {
  return value !== undefined && value !== null
}

/** A block has one field, which is its kind. If there are more, each is parsed, so that none goes unseen. */
function parseBlock(block: JsonObject, path: string, content: Content, notes: MessageNotes): void {
  let isUnknown = false
  for (const kind in block) {
    const value = block[kind]
    if (value === undefined || value === null || kind === 'cachePoint') continue
    const parse = KINDS.get(kind)
    if (parse === undefined) isUnknown = true
    else parse(value, `${path}.${kind}`, content, notes)
  }
  if (!isUnknown) return
  noteUnread(block, path, notes)
  notes.asksForCaching ||= hasCacheMark(block)
}

type KindParser = (value: Json, path: string, content: Content, notes: MessageNotes) => void

/** Kinds of blocks that have a canonical form, or that are checked because they name stored content. */
const KINDS: ReadonlyMap<string, KindParser> = new Map<string, KindParser>([
  ['text', (value, path, { parts }) => addText(parts, textAt(value, path))],
  ['json', (value, _, { parts }) => addText(parts, toJsonText(value))],
  // A text that is marked for a guardrail is an ordinary text for the model.
  ['guardContent', (value, _, { parts }) => addText(parts, toGuardedText(value))],
  ['citationsContent', (value, _, { parts }) => addTextsOf(parts, toObject(value)?.content)],
  ['searchResult', parseSearchResult],
  ['image', (value, path, { parts }) => void parts.push(toImagePart(parseMedia(value, path)))],
  ['audio', (value, path, { parts }) => void parts.push(toAudioPart(parseMedia(value, path)))],
  ['document', parseDocument],
  ['video', parseVideo],
  ['toolUse', parseToolUse],
  ['toolResult', parseToolResult],
  ['reasoningContent', parseReasoning],
])

function toGuardedText(value: Json): string | undefined {
  return toText(toObject(toObject(value)?.text)?.text)
}

function parseSearchResult(value: Json, _path: string, { parts }: Content): void {
  const { title, source, content } = toObject(value) ?? {}
  const head = [toText(title), toText(source)].filter(item => item !== undefined).join('\n')
  addText(parts, head)
  addTextsOf(parts, content)
}

function parseDocument(value: Json, path: string, { parts }: Content, notes: MessageNotes): void {
  const media = parseMedia(value, path)
  addDocument(parts, media, notes.base64Texts)
  // A document that is said to be text. Files are counted as what they are.
  if (parts.at(-1)?.type !== 'file' && holdsPackedFile(media.source, notes.textsLeft))
    notes.unmeasured.push(path)
  if (hasCitations(media)) notes.nativeOnly.push(`${path}.citations`)
}

/** No other format has videos. A second of a still picture takes a few bytes, so their length cannot be known. */
function parseVideo(value: Json, path: string, _content: Content, notes: MessageNotes): void {
  parseMedia(value, path)
  const block = path.slice(0, -'.video'.length)
  notes.nativeOnly.push(block)
  notes.unmeasured.push(block)
}

function parseToolUse(value: Json, path: string, { calls }: Content, notes: MessageNotes): void {
  const use = objectAt(value, path)
  const id = toolCallIdAt(use.toolUseId, `${path}.toolUseId`)
  const name = toolNameAt(use.name, `${path}.name`)
  notes.carriesReasoning ||= id.includes(CARRIER_MARK)
  calls.push({ id, type: 'function', function: { name, arguments: toArgumentsText(use.input ?? {}) } })
}

function parseToolResult(value: Json, path: string, { results }: Content, notes: MessageNotes): void {
  const result = objectAt(value, path)
  const id = toolCallIdAt(result.toolUseId, `${path}.toolUseId`)
  notes.carriesReasoning ||= id.includes(CARRIER_MARK)
  const { parts } = parseBlocks(result.content, `${path}.content`, notes)
  const message: Message = { role: 'tool', tool_call_id: id, content: toContent(parts) }
  if (result.status === 'error') message.is_error = true
  results.push(message)
}

/** Reasoning with a signature must come back; the rest is for reading. */
function parseReasoning(value: Json, path: string, content: Content, notes: MessageNotes): void {
  const { redactedContent, reasoningText } = objectAt(value, path)
  const { index } = content
  const { text: given, signature } = toObject(reasoningText) ?? {}
  const text = toText(given) ?? ''
  content.reasoning += text
  const redacted = toText(redactedContent)
  if (signature === FOREIGN_SIGNATURE) notes.carriesReasoning = true
  if (redacted !== undefined) {
    const data = notes.base64Texts.decode(redacted)
    content.details.push({ type: 'reasoning.encrypted', format: FORMAT, data, index })
  } else if (typeof signature === 'string' && signature !== FOREIGN_SIGNATURE) {
    const detail = markSandbox({ type: 'reasoning.text', format: FORMAT, text, signature, index })
    // Not Claude's either: it is left out for Claude.
    notes.carriesReasoning ||= detail.via !== undefined
    content.details.push(detail)
  }
}
