import type { ChatMessage, ChatParams, ContentPart, Tool } from '../../../sdk/index.ts'
import type { Draft } from './draft.ts'

export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high'] as const

/** What was said before: a prompt and its answer. */
export interface PastTurn {
  readonly prompt: string
  readonly images: readonly string[]
  readonly answer: string
}

/** A field of a draft that cannot be sent. */
export interface DraftProblem {
  readonly field: 'tools' | 'schema'
  readonly message: string
}

/** Returns why the draft cannot be sent; undefined: it can. The gateway checks the rest. */
export function findDraftProblem({ tools, schema }: Draft): DraftProblem | undefined {
  if (tools.trim() !== '' && parseTools(tools) === undefined) {
    return { field: 'tools', message: 'Must be JSON: a list of tools, such as [{"type": "function", …}].' }
  }
  if (schema.trim() !== '' && parseObject(schema) === undefined) {
    return { field: 'schema', message: 'Must be JSON: an object, such as {"type": "object", …}.' }
  }
  return undefined
}

/** Returns the request that the draft stands for, with what was said before. Images are data URLs. */
export function toChatParams(
  draft: Draft,
  images: readonly string[] = [],
  before: readonly PastTurn[] = [],
): ChatParams {
  const tools = parseTools(draft.tools)
  const schema = parseObject(draft.schema)
  const effort = EFFORTS.find(each => each === draft.reasoningEffort)
  return {
    model: draft.model,
    messages: toMessages(draft, images, before),
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

function numberOf(name: string, text: string): Record<string, number> {
  return text === '' ? {} : { [name]: Number(text) }
}

function toMessages(
  { system, prompt }: Draft,
  images: readonly string[],
  before: readonly PastTurn[],
): ChatMessage[] {
  return [
    ...(system.trim() === '' ? [] : [{ role: 'system', content: system } as const]),
    // A failed prompt has no answer, and is not part of what was said.
    ...before
      .filter(({ answer }) => answer !== '')
      .flatMap((said): ChatMessage[] => [
        { role: 'user', content: toContent(said.prompt, said.images) },
        { role: 'assistant', content: said.answer },
      ]),
    { role: 'user', content: toContent(prompt, images) },
  ]
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
  return Array.isArray(value) && value.every(each => typeof each === 'object' && each !== null)
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
