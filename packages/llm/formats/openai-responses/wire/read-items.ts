import type { JsonObject } from '../../../json/json-value.ts'
import { toJsonText, toObject, toObjects, toText } from '../../../json/json-value.ts'
import type { FinishReason } from '../../../reply/chat-reply.ts'
import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'

/** What plain responses and streams have in common: the items of an output, and how an output ended. */

export const REASONING_FORMAT = 'openai-responses-v1'
/** Between two parts of a reasoning summary, which are paragraphs with headings of their own. */
export const PARAGRAPH = '\n\n'

export interface ItemText {
  readonly content: string
  readonly refusal: string
}

/** What a message item says. */
export function readMessage(item: JsonObject): ItemText {
  let content = ''
  let refusal = ''
  for (const part of toObjects(item.content)) {
    if (part.type === 'output_text') content += toText(part.text) ?? ''
    else if (part.type === 'refusal') refusal += toText(part.refusal) ?? ''
  }
  return { content, refusal }
}

/** The reasoning that may be shown: a summary, or the text itself from those who show it. */
export function readReasoning(item: JsonObject): string {
  const parts = [...toObjects(item.summary), ...toObjects(item.content)]
  return parts
    .map(part => toText(part.text) ?? '')
    .filter(text => text !== '')
    .join(PARAGRAPH)
}

/** What has to come back with the next turn; nothing where the provider sent no encrypted state. */
export function readReasoningDetails(item: JsonObject): readonly ReasoningDetail[] {
  const data = toText(item.encrypted_content)
  if (data === undefined) return []
  const id = toText(item.id)
  const own = id === undefined ? {} : { id }
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

/** A call that the caller has to run: its name and arguments; undefined: another item. */
export function readCall(
  item: JsonObject,
): { readonly id: string | undefined; readonly name: string; readonly arguments: string } | undefined {
  const id = toText(item.call_id) ?? toText(item.id)
  const name = toText(item.name)
  if (item.type === 'function_call' && name !== undefined) {
    return { id, name, arguments: readArguments(item.arguments) }
  }
  // A tool whose input is free text: its call has the one argument that we give such tools elsewhere.
  if (item.type === 'custom_tool_call' && name !== undefined) {
    return { id, name, arguments: toJsonText({ input: item.input ?? '' }) }
  }
  return undefined
}

export function readArguments(value: JsonObject[string]): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : toJsonText(value)
}

/** How a response ended: by its status and content. */
export function readFinish(response: JsonObject, hasToolCalls: boolean): FinishReason {
  const reason = toObject(response.incomplete_details)?.reason
  if (reason === 'content_filter') return 'content_filter'
  if (response.status === 'incomplete') return 'length'
  return hasToolCalls ? 'tool_calls' : 'stop'
}
