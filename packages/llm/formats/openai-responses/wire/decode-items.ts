import type { JsonObject } from '../../../json/json-value.ts'
import { toArray, toObject, toObjects, toText } from '../../../json/json-value.ts'
import type { FinishReason } from '../../../reply/chat-reply.ts'
import { MAX_DETAILS, type ReasoningDetail, tooManyDetails } from '../../../reply/reasoning-detail.ts'
import { toArgumentsText } from '../../shared/reading/arguments-text.ts'

/** Decoders of output items and of a response's end, for plain responses and streams. */

export const REASONING_FORMAT = 'openai-responses-v1'
/** Separates the parts of a reasoning summary, which are paragraphs with headings. */
export const PARAGRAPH = '\n\n'

export interface ItemText {
  readonly content: string
  readonly refusal: string
}

/** The text and the refusal of a message item. */
export function decodeMessage(item: JsonObject): ItemText {
  let content = ''
  let refusal = ''
  for (const part of toObjects(item.content)) {
    if (part.type === 'output_text') content += toText(part.text) ?? ''
    else if (part.type === 'refusal') refusal += toText(part.refusal) ?? ''
  }
  return { content, refusal }
}

/** The readable reasoning of an item: its summary, and the text itself if the provider sends it. */
export function decodeReasoning(item: JsonObject): string {
  const parts = [...toObjects(item.summary), ...toObjects(item.content)]
  return parts
    .map(part => toText(part.text) ?? '')
    .filter(text => text !== '')
    .join(PARAGRAPH)
}

/**
 * The details that must come back with the next request; empty: the provider sent no encrypted state. Several providers serve the same
 * models, and none can read what another one encrypted.
 */
export function decodeReasoningDetails(item: JsonObject, providerId: string): readonly ReasoningDetail[] {
  const data = toText(item.encrypted_content)
  if (data === undefined) return []
  const id = toText(item.id)
  const own = { via: providerId, ...(id === undefined ? {} : { id }) }
  if (toArray(item.summary).length > MAX_DETAILS) throw tooManyDetails()
  const summaries = toObjects(item.summary).map(part => toText(part.text))
  return [
    ...summaries
      .filter(summary => summary !== undefined)
      .map(
        (summary): ReasoningDetail => ({
          type: 'reasoning.summary',
          format: REASONING_FORMAT,
          summary,
          ...own,
        }),
      ),
    { type: 'reasoning.encrypted', format: REASONING_FORMAT, data, ...own },
  ]
}

/** The details as callers get them, who combine those of a stream by their index. Within an id it is not needed. */
export function withIndexes(details: readonly ReasoningDetail[], first: number): ReasoningDetail[] {
  return details.map((detail, at) => ({ ...detail, index: first + at }))
}

/** A call of one of the caller's tools; undefined: the item is not such a call. */
export function decodeCall(
  item: JsonObject,
): { readonly id: string | undefined; readonly name: string; readonly arguments: string } | undefined {
  const id = toText(item.call_id) ?? toText(item.id)
  const name = toText(item.name)
  if (item.type === 'function_call' && name !== undefined) {
    return { id, name, arguments: decodeArguments(item.arguments) }
  }
  // A tool that takes free text is a function with the one argument `input` in the canonical form.
  if (item.type === 'custom_tool_call' && name !== undefined) {
    return { id, name, arguments: toArgumentsText({ input: item.input ?? '' }) }
  }
  return undefined
}

export function decodeArguments(value: JsonObject[string]): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : toArgumentsText(value)
}

/** The finish reason, by the status and the calls of a response. */
export function decodeFinish(response: JsonObject, hasToolCalls: boolean): FinishReason {
  const reason = toObject(response.incomplete_details)?.reason
  if (reason === 'content_filter') return 'content_filter'
  if (response.status === 'incomplete') return 'length'
  return hasToolCalls ? 'tool_calls' : 'stop'
}
