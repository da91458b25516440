import { createHash } from 'node:crypto'
import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObject, toText } from '../../../json/json-value.ts'
import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'
import type { Message, ToolCall } from '../../../request/message.ts'
import { findReasoningDetails, plainToolCallId } from '../../shared/reasoning-carrier.ts'
import { type Blocks, encodeContent, toCachePoint } from './encode-content.ts'
import { findFamily, takesCachePoints } from './model-family.ts'

export interface EncodedMessages {
  readonly system: JsonObject[]
  readonly messages: JsonObject[]
}

type Turn = { role: 'user' | 'assistant'; blocks: Blocks[] }

/**
 * Messages as Converse takes them: what the system says at the start apart, user and assistant in turns, the results of
 * a turn's calls before the user's words. `toolsAsText`: the request has no tools, and Converse then refuses calls and
 * results of tools, so they are told in words.
 */
export function encodeMessages(
  messages: readonly Message[],
  model: string,
  { toolsAsText }: { readonly toolsAsText: boolean },
): EncodedMessages {
  const options = { cachePoints: takesCachePoints(model), documents: { count: 0 } }
  const system: Blocks[] = []
  const turns: Turn[] = []
  const names = new Map<string, string>()
  const add = (role: Turn['role'], blocks: readonly Blocks[]): void => {
    if (blocks.length === 0) return
    const last = turns.at(-1)
    if (last?.role === role) last.blocks.push(...blocks)
    else turns.push({ role, blocks: [...blocks] })
  }
  for (const message of messages) {
    for (const call of message.tool_calls ?? []) names.set(call.id, call.function?.name ?? '')
    const content = encodeContent(message.content, options)
    switch (message.role) {
      case 'system':
      case 'developer':
        if (turns.length === 0) system.push(...content)
        else add('user', content.map(asSystem))
        break
      case 'assistant':
        add('assistant', [
          ...findReasoningDetails(message, 'anthropic-claude-v1').map(detail => [encodeReasoning(detail)]),
          ...content,
          ...encodeCalls(message.tool_calls ?? [], model, toolsAsText),
        ])
        break
      case 'tool':
        add('user', [
          encodeResult(
            message,
            content,
            model,
            toolsAsText ? (names.get(message.tool_call_id ?? '') ?? '') : undefined,
          ),
        ])
        break
      default:
        add('user', content)
    }
  }
  return { system: system.flat(), messages: finish(turns) }
}

function finish(turns: Turn[]): JsonObject[] {
  // A conversation begins with its user; what only has instructions, or begins with an answer, gets the least of words.
  if (turns[0]?.role !== 'user') turns.unshift({ role: 'user', blocks: [[{ text: '.' }]] })
  const last = turns.at(-1)
  if (last?.role === 'assistant') trimEnd(last)
  return turns.map(({ role, blocks }) => {
    const isResult = (each: Blocks): boolean => each[0]?.toolResult !== undefined
    const ordered = [...blocks.filter(isResult), ...blocks.filter(each => !isResult(each))].flat()
    // A document alone is refused.
    const lacksText =
      ordered.some(({ document }) => document !== undefined) &&
      ordered.every(({ text }) => text === undefined)
    return { role, content: lacksText ? [...ordered, { text: '.' }] : ordered }
  })
}

/** An answer that is to be continued may not end with white space. */
function trimEnd(turn: Turn): void {
  const block = turn.blocks.at(-1)?.[0]
  if (typeof block?.text === 'string') block.text = block.text.trimEnd()
}

/** Converse knows the system's words at the start only. */
function asSystem([block, ...rest]: Blocks): Blocks {
  return block?.text === undefined ? [] : [{ text: `<system>\n${String(block.text)}\n</system>` }, ...rest]
}

function encodeReasoning(detail: ReasoningDetail): JsonObject {
  if (detail.type === 'reasoning.encrypted') {
    return { reasoningContent: { redactedContent: Buffer.from(detail.data ?? '').toString('base64') } }
  }
  return {
    reasoningContent: { reasoningText: { text: detail.text ?? '', signature: detail.signature ?? '' } },
  }
}

function encodeCalls(calls: readonly ToolCall[], model: string, asText: boolean): Blocks[] {
  return calls.map(call => {
    const { name, arguments: input } = call.function
    if (asText) return [{ text: `Called the tool ${name} with ${input || '{}'}` }]
    return [{ toolUse: { toolUseId: toToolUseId(call.id, model), name, input: parseInput(input) } }]
  })
}

/** Converse takes an object. What is none was the model's mistake, and stays to be seen. */
function parseInput(text: string): JsonObject {
  if (text.trim() === '') return {}
  try {
    return toObject(JSON.parse(text) as Json) ?? { arguments: text }
  } catch {
    return { arguments: text }
  }
}

function encodeResult(
  message: Message,
  content: readonly Blocks[],
  model: string,
  nameInText: string | undefined,
): Blocks {
  const blocks = content.flat().filter(({ cachePoint }) => cachePoint === undefined)
  if (nameInText !== undefined) {
    const text = blocks.map(block => toText(block.text) ?? '').join('\n')
    return [
      { text: `Result of the tool ${nameInText}: ${text}` },
      ...blocks.filter(block => block.text === undefined),
    ]
  }
  const cache =
    content.flat().find(({ cachePoint }) => cachePoint !== undefined) ??
    toCachePoint(message.cache_control as Json)
  const toolUseId = toToolUseId(message.tool_call_id ?? '', model)
  // A result needs some content.
  const toolResult = {
    toolUseId,
    content: blocks.length === 0 ? [{ json: {} }] : blocks,
    ...(message.is_error === true ? { status: 'error' } : {}),
  }
  return cache === undefined ? [{ toolResult }] : [{ toolResult }, cache]
}

const ANY_ID = /^[A-Za-z0-9_.:-]{1,64}$/
const CLAUDE_ID = /^[A-Za-z0-9_-]{1,64}$/

/** An id of another provider's may be too long or have other characters: it becomes one that fits, alike in call and result. */
function toToolUseId(packed: string, model: string): string {
  const id = plainToolCallId(packed)
  const fitting = findFamily(model) === 'claude' ? CLAUDE_ID : ANY_ID
  return fitting.test(id) ? id : `call_${createHash('sha256').update(id).digest('hex').slice(0, 32)}`
}
