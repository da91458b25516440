import { createHash } from 'node:crypto'
import type { Json, JsonObject } from '../../../json/json-value.ts'
import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'
import type { Message } from '../../../request/message.ts'
import { FORMAT } from '../../shared/claude-thinking.ts'
import { findReasoningDetails, plainToolCallId } from '../../shared/reasoning-carrier.ts'
import { encodeContent, encodeText } from './encode-parts.ts'

interface Turn {
  role: 'user' | 'assistant' | 'system'
  content: JsonObject[]
}

export interface EncodedMessages {
  /** undefined: there is none. */
  readonly system: string | JsonObject[] | undefined
  readonly messages: JsonObject[]
}

/**
 * Canonical messages as alternating turns: leading instructions go to `system`, later ones into the conversation, as
 * turns of their own where the model takes them (`takesSystemTurns`); the results of one turn's calls stand together before anything else the user says (wire facts §1.3).
 */
export function encodeMessages(
  messages: readonly Message[],
  { takesSystemTurns = false }: { readonly takesSystemTurns?: boolean } = {},
): EncodedMessages {
  const system: JsonObject[] = []
  let turns: Turn[] = []
  for (const message of messages) {
    const isInstruction = message.role === 'system' || message.role === 'developer'
    if (isInstruction && turns.length === 0) system.push(...encodeBlocks(message))
    else if (isInstruction) add(turns, 'system', encodeBlocks(message))
    else if (message.role === 'assistant') add(turns, 'assistant', encodeAssistant(message))
    else if (message.role === 'tool') add(turns, 'user', [encodeResult(message)])
    else add(turns, 'user', encodeBlocks(message))
  }
  turns = placeInstructions(turns, takesSystemTurns)
  // A conversation of instructions alone, or one that the assistant opens, is refused.
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
  const isResult = blocks[0]?.type === 'tool_result'
  const end = isResult ? last.content.findLastIndex(({ type }) => type === 'tool_result') + 1 : -1
  if (isResult) last.content.splice(end, 0, ...blocks)
  else last.content.push(...blocks)
}

function toWire(turns: readonly Turn[]): JsonObject[] {
  return turns.map(({ role, content }) => {
    const [only] = content
    const isPlain = content.length === 1 && only?.type === 'text' && only.cache_control === undefined
    return { role, content: isPlain ? (only?.text as Json) : content }
  })
}

/** Blocks of a message; a breakpoint that some clients set on the message itself goes to its last block. */
function encodeBlocks(message: Message): JsonObject[] {
  const blocks = encodeContent(message.content)
  const last = blocks.at(-1)
  if (last !== undefined && message.cache_control !== undefined && message.cache_control !== null) {
    last.cache_control ??= message.cache_control as Json
  }
  return blocks
}

/**
 * An instruction after the beginning stays one only where a user's turn is before it and none follows: elsewhere it is
 * refused (platform.claude.com/docs, "Mid-conversation system messages"). Every model understands a marked text of the
 * user's.
 */
function placeInstructions(turns: Turn[], takesSystemTurns: boolean): Turn[] {
  if (!turns.some(({ role }) => role === 'system')) return turns
  const placed: Turn[] = []
  for (const [at, { role, content }] of turns.entries()) {
    const isInPlace = placed.at(-1)?.role === 'user' && turns[at + 1]?.role !== 'user'
    if (role === 'system' && !(takesSystemTurns && isInPlace))
      add(placed, 'user', content.map(markInstruction))
    else add(placed, role, content)
  }
  return placed
}

function markInstruction(block: JsonObject): JsonObject {
  return block.type === 'text' ? { ...block, text: `<system>\n${String(block.text)}\n</system>` } : block
}

function joinSystem(blocks: JsonObject[]): EncodedMessages['system'] {
  if (blocks.length === 0) return undefined
  if (blocks.some(({ cache_control }) => cache_control !== undefined)) return blocks
  return blocks.map(({ text }) => String(text)).join('\n\n')
}

function encodeAssistant(message: Message): JsonObject[] {
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls : []
  const spoken = encodeBlocks(message)
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
  return weave(findReasoningDetails(message, FORMAT), rest)
}

/** Thinking goes back to the places it came from, as its signatures demand: a detail's index counts the blocks. */
function weave(details: readonly ReasoningDetail[], rest: readonly JsonObject[]): JsonObject[] {
  const blocks = [...rest]
  for (const detail of details) {
    const block = toThinkingBlock(detail)
    if (block === undefined) continue
    const before = blocks.findLastIndex(({ type }) => String(type).endsWith('thinking')) + 1
    blocks.splice(Math.max(before, Math.min(detail.index ?? before, blocks.length)), 0, block)
  }
  // Nothing but thinking is no turn that can be sent back.
  return rest.length === 0 ? [] : blocks
}

function toThinkingBlock({ type, text, signature, data }: ReasoningDetail): JsonObject | undefined {
  if (type === 'reasoning.text' && signature !== undefined) {
    return { type: 'thinking', thinking: text ?? '', signature }
  }
  return type === 'reasoning.encrypted' && data !== undefined
    ? { type: 'redacted_thinking', data }
    : undefined
}

function encodeResult(message: Message): JsonObject {
  const blocks = encodeContent(message.content)
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

/** Letters, digits, `_` and `-` only: another provider's id is made to fit, alike in call and result. */
function toToolUseId(id: unknown): string {
  const plain = plainToolCallId(String(id))
  if (/^[a-zA-Z0-9_-]+$/.test(plain)) return plain
  const digest = createHash('sha256').update(plain).digest('hex').slice(0, 8)
  return `${plain.replace(/[^a-zA-Z0-9_-]/g, '_')}_${digest}`
}

/** A model may have written what is no JSON object; the turn is sent all the same, with its text. */
function parseArguments(text: string | null | undefined): JsonObject {
  if (text === undefined || text === null || text.trim() === '') return {}
  try {
    const value = JSON.parse(text) as Json
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
    return value === null ? {} : { value }
  } catch {
    return { text }
  }
}

/** An answer to go on with may not end in white space. */
function trimPrefill(turns: readonly Turn[]): void {
  const last = turns.at(-1)
  const block = last?.content.at(-1)
  if (last?.role !== 'assistant' || block?.type !== 'text') return
  block.text = String(block.text).trimEnd()
  if (block.text === '') last.content.pop()
}
