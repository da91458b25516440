import type { ChatMessage, ChatParams, ContentPart, Tool } from '../../../sdk/index.ts'
import type { Draft } from './draft.ts'

export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high'] as const

/** An earlier turn of the conversation: a prompt or tool results, and the answer. */
export interface PastTurn {
  readonly prompt: string
  readonly images: readonly string[]
  readonly answer: string
  /** The tools that the model called in its answer. */
  readonly tools?: readonly ToolCall[]
  /** The results that were sent instead of a prompt, one for each tool call of the previous turn. */
  readonly results?: readonly ToolResult[]
}

/** A tool call of the model. `arguments` is JSON as the model wrote it. */
export interface ToolCall {
  readonly id: string
  readonly name: string
  readonly arguments: string
}

export interface ToolResult {
  /** The id of the tool call. */
  readonly id: string
  readonly content: string
}

/** A field of a draft that cannot be sent. */
export interface DraftProblem {
  readonly field: 'tools' | 'schema'
  readonly message: string
}

/** Returns why the draft cannot be sent, or undefined if it can. The gateway checks everything else. */
export function findDraftProblem({ tools, schema }: Draft): DraftProblem | undefined {
  if (tools.trim() !== '' && parseTools(tools) === undefined) {
    return { field: 'tools', message: 'Must be JSON: a list of tools, such as [{"type": "function", …}].' }
  }
  if (schema.trim() !== '' && parseObject(schema) === undefined) {
    return { field: 'schema', message: 'Must be JSON: an object, such as {"type": "object", …}.' }
  }
  return undefined
}

/** Returns the request of the draft, with the earlier turns of the conversation. Images are data URLs. */
export function toChatParams(
  draft: Draft,
  images: readonly string[] = [],
  before: readonly PastTurn[] = [],
  results: readonly ToolResult[] = [],
): ChatParams {
  const tools = parseTools(draft.tools)
  const schema = parseObject(draft.schema)
  const effort = EFFORTS.find(effort => effort === draft.reasoningEffort)
  return {
    model: draft.model,
    messages: toMessages(draft, images, before, results),
    ...numberOf('temperature', draft.temperature),
    ...numberOf('top_p', draft.topP),
    ...numberOf('max_output_tokens', draft.maxOutputTokens),
    ...numberOf('seed', draft.seed),
    ...(effort === undefined ? {} : { reasoning_effort: effort }),
    ...(tools === undefined || tools.length === 0 ? {} : { tools }),
    ...(schema === undefined
      ? {}
      : { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } } }),
  }
}

/**
 * Returns the request that the playground shows as code: the draft's, or while the prompt is empty the one that was sent last, with the
 * draft's settings.
 */
export function toShownParams(
  draft: Draft,
  images: readonly string[],
  turns: readonly PastTurn[],
): ChatParams {
  const last = turns.at(-1)
  if (draft.prompt !== '' || images.length > 0 || last === undefined) {
    const prompt = draft.prompt === '' ? 'Hello' : draft.prompt
    return toChatParams({ ...draft, prompt }, images, turns)
  }
  return toChatParams({ ...draft, prompt: last.prompt }, last.images, turns.slice(0, -1), last.results)
}

function numberOf(name: string, text: string): Record<string, number> {
  return text === '' ? {} : { [name]: Number(text) }
}

function toMessages(
  { system, prompt }: Draft,
  images: readonly string[],
  before: readonly PastTurn[],
  results: readonly ToolResult[],
): ChatMessage[] {
  // A failed turn has no answer and is left out of the conversation.
  const said = before.filter(({ answer, tools = [] }) => answer !== '' || tools.length > 0)
  return [
    ...(system.trim() === '' ? [] : [{ role: 'system', content: system } as const]),
    ...said.flatMap((turn, index) => [
      ...toInput(turn.prompt, turn.images, turn.results ?? []),
      ...toAnswer(turn, said[index + 1]?.results ?? (index === said.length - 1 ? results : [])),
    ]),
    ...toInput(prompt, images, results),
  ]
}

function toInput(
  prompt: string,
  images: readonly string[],
  results: readonly ToolResult[],
): readonly ChatMessage[] {
  if (results.length === 0) return [{ role: 'user', content: toContent(prompt, images) }]
  return results.map(({ id, content }) => ({ role: 'tool', tool_call_id: id, content }))
}

/** Leaves out tool calls without a result, because providers refuse a conversation with them. */
function toAnswer({ answer, tools = [] }: PastTurn, results: readonly ToolResult[]): readonly ChatMessage[] {
  const calls = tools.filter(({ id }) => results.some(result => result.id === id))
  if (calls.length === 0) return answer === '' ? [] : [{ role: 'assistant', content: answer }]
  const tool_calls = calls.map(({ id, name, arguments: text }) => ({
    id,
    type: 'function' as const,
    function: { name, arguments: text },
  }))
  return [{ role: 'assistant', content: answer === '' ? null : answer, tool_calls }]
}

function toContent(text: string, images: readonly string[]): string | ContentPart[] {
  if (images.length === 0) return text
  return [
    { type: 'text', text },
    ...images.map((url): ContentPart => ({ type: 'image_url', image_url: { url } })),
  ]
}

function parseTools(text: string): Tool[] | undefined {
  const value = parse(text)
  return Array.isArray(value) && value.every(item => typeof item === 'object' && item !== null)
    ? (value as Tool[])
    : undefined
}

function parseObject(text: string): Record<string, unknown> | undefined {
  const value = parse(text)
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
