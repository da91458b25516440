import { createHash } from 'node:crypto'
import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toText } from '../../../json/json-value.ts'
import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'
import type { Message, ToolCall } from '../../../request/message.ts'
import { FORMAT } from '../../shared/claude/claude-thinking.ts'
import { listReasoningDetails, plainToolCallId } from '../../shared/reasoning/reasoning-carrier.ts'
import { weaveThinking } from '../../shared/reasoning/weave-thinking.ts'
import { markInstruction } from '../../shared/requests/mark-instruction.ts'
import { listFunctionCalls } from '../../shared/tools/function-calls.ts'
import { toArgumentsOrWrapped } from '../../shared/tools/tool-arguments.ts'
import { type Blocks, encodeContent, toCachePoint } from './encode-content.ts'
import { takesCachePoints, toModelFamily } from './model-family.ts'

export interface EncodedMessages {
  readonly system: JsonObject[]
  readonly messages: JsonObject[]
}

type Turn = { role: 'user' | 'assistant'; blocks: Blocks[] }

/**
 * Returns canonical messages as alternating turns. Instructions at the beginning go to `system`; results of calls come
 * before the other blocks of their turn. `toolsAsText`: calls and results become texts, because Converse refuses them in a
 * request without tools.
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
    if (last?.role === role) for (const block of blocks) last.blocks.push(block)
    else turns.push({ role, blocks: [...blocks] })
  }
  for (const message of messages) {
    const calls = listFunctionCalls(message)
    for (const call of calls) names.set(call.id, call.function.name)
    const content = encodeContent(message.content, options)
    switch (message.role) {
      case 'system':
      case 'developer':
        if (turns.length === 0) for (const item of content) system.push(item)
        else add('user', content.map(asSystem))
        break
      case 'assistant':
        add(
          'assistant',
          weaveThinking(
            listReasoningDetails(message, FORMAT),
            [...content, ...encodeCalls(calls, model, toolsAsText)],
            encodeReasoning,
          ),
        )
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
  return { system: system.flat(), messages: toTurnBodies(turns) }
}

function toTurnBodies(turns: Turn[]): JsonObject[] {
  // Converse refuses a conversation that does not begin with the user, and an empty text.
  if (turns[0]?.role !== 'user') turns.unshift({ role: 'user', blocks: [[{ text: '.' }]] })
  const last = turns.at(-1)
  if (last?.role === 'assistant') trimEnd(last)
  return turns.map(({ role, blocks }) => {
    const isResult = (group: Blocks): boolean => group[0]?.toolResult !== undefined
    const ordered = [...blocks.filter(isResult), ...blocks.filter(group => !isResult(group))].flat()
    // Converse refuses a document without a text beside it.
    const lacksText =
      ordered.some(({ document }) => document !== undefined) &&
      ordered.every(({ text }) => text === undefined)
    return { role, content: lacksText ? [...ordered, { text: '.' }] : ordered }
  })
}

/** Claude refuses an answer to continue that ends in white space. */
function trimEnd(turn: Turn): void {
  const block = turn.blocks.at(-1)?.[0]
  if (typeof block?.text === 'string') block.text = block.text.trimEnd()
}

/** Converse has instructions at the beginning only, so later ones become a marked text of the user. */
function asSystem([block, ...rest]: Blocks): Blocks {
  return block?.text === undefined ? [] : [{ text: markInstruction(String(block.text)) }, ...rest]
}

function encodeReasoning({ type, text, signature, data }: ReasoningDetail): Blocks | undefined {
  if (type === 'reasoning.text' && signature !== undefined) {
    return [{ reasoningContent: { reasoningText: { text: text ?? '', signature } } }]
  }
  return type === 'reasoning.encrypted' && data !== undefined
    ? [{ reasoningContent: { redactedContent: Buffer.from(data).toString('base64') } }]
    : undefined
}

function encodeCalls(calls: readonly ToolCall[], model: string, asText: boolean): Blocks[] {
  return calls.map(call => {
    const { name, arguments: input } = call.function
    if (asText) return [{ text: `Called the tool ${name} with ${input || '{}'}` }]
    return [{ toolUse: { toolUseId: toToolUseId(call.id, model), name, input: toArgumentsOrWrapped(input) } }]
  })
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
  // Converse refuses a result without content.
  const toolResult = {
    toolUseId,
    content: blocks.length === 0 ? [{ json: {} }] : blocks,
    ...(message.is_error === true ? { status: 'error' } : {}),
  }
  return cache === undefined ? [{ toolResult }] : [{ toolResult }, cache]
}

const ANY_ID = /^[A-Za-z0-9_.:-]{1,64}$/
const CLAUDE_ID = /^[A-Za-z0-9_-]{1,64}$/

/** Replaces an id of another provider that is too long or has other characters, alike in the call and its result. */
function toToolUseId(packed: string, model: string): string {
  const id = plainToolCallId(packed)
  const fitting = toModelFamily(model) === 'claude' ? CLAUDE_ID : ANY_ID
  return fitting.test(id) ? id : `call_${createHash('sha256').update(id).digest('hex').slice(0, 32)}`
}
