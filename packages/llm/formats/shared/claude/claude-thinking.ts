import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toText } from '../../../json/json-value.ts'
import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'
import { toArgumentsText } from '../reading/arguments-text.ts'

/** Thinking of Claude as canonical reasoning details, in plain replies and streams. */

export const FORMAT = 'anthropic-claude-v1'

/** Returns thinking in the form that must come back with the next request; undefined: it has no signature, so it need not. */
export function toThinkingDetail(
  text: string,
  signature: string | undefined,
  index: number,
): ReasoningDetail | undefined {
  if (signature === undefined) return undefined
  return { type: 'reasoning.text', format: FORMAT, text, signature, index }
}

export function toRedactedDetail(data: string | undefined, index: number): ReasoningDetail | undefined {
  return data === undefined ? undefined : { type: 'reasoning.encrypted', format: FORMAT, data, index }
}

/** Returns a call's arguments as JSON text; no input is an empty object. */
export function encodeInput(input: Json | undefined): string {
  return input === undefined || input === null ? '{}' : toArgumentsText(input)
}

/** Returns the model's explanation of a refusal; undefined: there is none. */
export function findRefusal(message: JsonObject | undefined): string | undefined {
  const details = message?.stop_details
  if (typeof details !== 'object' || details === null || Array.isArray(details)) return undefined
  return details.type === 'refusal' ? toText(details.explanation) : undefined
}
