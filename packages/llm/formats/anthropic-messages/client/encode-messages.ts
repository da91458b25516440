import { Base64Texts } from '../../../json/base64-texts.ts'
import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObject } from '../../../json/json-value.ts'
import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'
import type { Message } from '../../../request/message.ts'
import { FORMAT } from '../../shared/claude/claude-thinking.ts'
import { parseInnerJson } from '../../shared/reading/parse-inner-json.ts'
import { listReasoningDetails, plainToolCallId } from '../../shared/reasoning/reasoning-carrier.ts'
import { weaveThinking } from '../../shared/reasoning/weave-thinking.ts'
import { markInstruction } from '../../shared/requests/mark-instruction.ts'
import { isFittingId, withDigest } from '../../shared/tools/fitting-id.ts'
import { listFunctionCalls } from '../../shared/tools/function-calls.ts'
import { encodeContent, encodeText } from './encode-parts.ts'

interface Turn {
  role: 'user' | 'assistant' | 'system'
  content: JsonObject[]
}

export interface EncodedMessages {
  /** undefined: there are no instructions. */
  readonly system: string | JsonObject[] | undefined
  readonly messages: JsonObject[]
}

/**
 * Returns canonical messages as alternating turns. Instructions at the beginning go to `system`; later ones stay in the
 * conversation, as turns of their own if the model takes them (`takesSystemTurns`). Results of tools come first in the
 * turn after their calls, as the format demands.
 */
export function encodeMessages(
  messages: readonly Message[],
  { takesSystemTurns = false }: { readonly takesSystemTurns?: boolean } = {},
): EncodedMessages {
  const system: JsonObject[] = []
  let turns: Turn[] = []
  const texts = new Base64Texts()
  for (const message of messages) {
    const isInstruction = message.role === 'system' || message.role === 'developer'
    if (isInstruction && turns.length === 0)
      for (const block of encodeBlocks(message, texts)) system.push(block)
    else if (isInstruction) add(turns, 'system', encodeBlocks(message, texts))
    else if (message.role === 'assistant') add(turns, 'assistant', encodeAssistant(message, texts))
    else if (message.role === 'tool') add(turns, 'user', [encodeResult(message, texts)])
    else add(turns, 'user', encodeBlocks(message, texts))
  }
  turns = placeInstructions(turns, takesSystemTurns)
  // The provider refuses a conversation without messages, and one that the assistant begins.
  if (turns.length === 0) return { system: undefined, messages: toWire([{ role: 'user', content: system }]) }
  if (turns[0]?.role === 'assistant') turns.unshift({ role: 'user', content: encodeText('.') })
  trimPrefill(turns)
  return { system: joinSystem(system), messages: toWire(turns) }
}

function add(turns: Turn[], role: Turn['role'], blocks: JsonObject[]): void {
  if (blocks.length === 0) return
  const last = turns.at(-1)
  if (last?.role !== role) {
    turns.push({ role, content: blocks })
    return
  }
  for (const block of blocks) last.content.push(block)
}

/** The provider demands the results of calls before other blocks of a turn. */
function withResultsFirst(content: JsonObject[]): JsonObject[] {
  if (!content.some(isResult)) return content
  return [...content.filter(isResult), ...content.filter(block => !isResult(block))]
}

function isResult({ type }: JsonObject): boolean {
  return type === 'tool_result'
}

function toWire(turns: readonly Turn[]): JsonObject[] {
  return turns.map(({ role, content: given }) => {
    const content = withResultsFirst(given)
    const [only] = content
    const isPlain = content.length === 1 && only?.type === 'text' && only.cache_control === undefined
    return { role, content: isPlain ? (only?.text as Json) : content }
  })
}

/** The blocks of a message. A cache breakpoint that a client set on the message itself goes to its last block. */
function encodeBlocks(message: Message, texts: Base64Texts): JsonObject[] {
  const blocks = encodeContent(message.content, texts)
  const last = blocks.at(-1)
  if (last !== undefined && message.cache_control !== undefined && message.cache_control !== null) {
    last.cache_control ??= message.cache_control as Json
  }
  return blocks
}

/**
 * Keeps a later instruction as a turn of its own only between a user's turn and an assistant's, or at the end after a
 * user's: models that take such turns refuse them elsewhere (docs/providers.md, "Anthropic"). All other later instructions
 * become a marked text of the user.
 */
function placeInstructions(turns: Turn[], takesSystemTurns: boolean): Turn[] {
  if (!turns.some(({ role }) => role === 'system')) return turns
  const placed: Turn[] = []
  for (const [at, { role, content }] of turns.entries()) {
    const isInPlace = placed.at(-1)?.role === 'user' && turns[at + 1]?.role !== 'user'
    if (role === 'system' && !(takesSystemTurns && isInPlace)) add(placed, 'user', content.map(markBlock))
    else add(placed, role, content)
  }
  return placed
}

function markBlock(block: JsonObject): JsonObject {
  return block.type === 'text' ? { ...block, text: markInstruction(String(block.text)) } : block
}

function joinSystem(blocks: JsonObject[]): EncodedMessages['system'] {
  if (blocks.length === 0) return undefined
  if (blocks.some(({ cache_control }) => cache_control !== undefined)) return blocks
  return blocks.map(({ text }) => String(text)).join('\n\n')
}

function encodeAssistant(message: Message, texts: Base64Texts): JsonObject[] {
  const calls = listFunctionCalls(message)
  const spoken = encodeBlocks(message, texts)
  const refusal = typeof message.refusal === 'string' ? encodeText(message.refusal) : []
  const rest = [
    ...spoken,
    ...(spoken.length === 0 ? refusal : []),
    ...calls.map(call => ({
      type: 'tool_use',
      id: toToolUseId(call.id),
      name: call.function.name,
      input: parseArguments(call.function.arguments),
    })),
  ]
  return weaveThinking(listReasoningDetails(message, FORMAT), rest, toThinkingBlock)
}

function toThinkingBlock({ type, text, signature, data }: ReasoningDetail): JsonObject | undefined {
  if (type === 'reasoning.text' && signature !== undefined) {
    return { type: 'thinking', thinking: text ?? '', signature }
  }
  return type === 'reasoning.encrypted' && data !== undefined
    ? { type: 'redacted_thinking', data }
    : undefined
}

function encodeResult(message: Message, texts: Base64Texts): JsonObject {
  const blocks = encodeContent(message.content, texts)
  const [only] = blocks
  const isPlain = blocks.length === 1 && only?.type === 'text' && only.cache_control === undefined
  return {
    type: 'tool_result',
    tool_use_id: toToolUseId(message.tool_call_id ?? ''),
    ...(blocks.length === 0 ? {} : { content: isPlain ? (only?.text as Json) : blocks }),
    ...(message.is_error === true ? { is_error: true } : {}),
    ...(message.cache_control === undefined || message.cache_control === null
      ? {}
      : { cache_control: message.cache_control as Json }),
  }
}

/** Ids have letters, digits, `_` and `-` only. An id of another provider is replaced alike in the call and its result. */
function toToolUseId(id: unknown): string {
  const plain = plainToolCallId(String(id))
  return plain !== '' && isFittingId(plain) ? plain : withDigest(plain)
}

/** Arguments that are not a JSON object, by a mistake of the model that wrote them, are sent as a text in an object. */
function parseArguments(text: string | null | undefined): JsonObject {
  if (text === undefined || text === null || text.trim() === '') return {}
  try {
    const value = parseInnerJson(text)
    return toObject(value) ?? (value === null ? {} : { value })
  } catch {
    return { text }
  }
}

/** The provider refuses an answer to continue that ends in white space. */
function trimPrefill(turns: readonly Turn[]): void {
  const last = turns.at(-1)
  const block = last?.content.at(-1)
  if (last?.role !== 'assistant' || block?.type !== 'text') return
  block.text = String(block.text).trimEnd()
  if (block.text === '') last.content.pop()
}
