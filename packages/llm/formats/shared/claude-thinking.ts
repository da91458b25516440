import type { Json, JsonObject } from '../../json/json-value.ts'
import { toJsonText, toText } from '../../json/json-value.ts'
import type { ReasoningDetail } from '../../reply/reasoning-detail.ts'

/** What plain replies and streams have in common. */

export const FORMAT = 'anthropic-claude-v1'

/** Thinking as it has to come back; undefined: without a signature nobody takes it back. */
export function toThinkingDetail(
  text: string,
  signature: string | undefined,
  index: number,
): ReasoningDetail | undefined {
  if (signature === undefined) return undefined
  return { type: 'reasoning.text', format: FORMAT, text, signature, index }
}

export function toRedactedDetail(block: JsonObject, index: number): ReasoningDetail | undefined {
  const data = toText(block.data)
  return data === undefined ? undefined : { type: 'reasoning.encrypted', format: FORMAT, data, index }
}

/** Arguments as JSON text: no input is an empty object. */
export function encodeInput(input: Json | undefined): string {
  return input === undefined || input === null ? '{}' : toJsonText(input)
}

/** Why the model refused, where it says so. */
export function readRefusal(message: JsonObject | undefined): string | undefined {
  const details = message?.stop_details
  if (typeof details !== 'object' || details === null || Array.isArray(details)) return undefined
  return details.type === 'refusal' ? toText(details.explanation) : undefined
}
