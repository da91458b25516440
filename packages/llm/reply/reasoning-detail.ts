/**
 * Reasoning state of one provider, opaque to all others: it has to come back in the next turn, and goes to the
 * provider family that made it only. The shape is the one that OpenRouter's clients know.
 */
export interface ReasoningDetail {
  readonly type: 'reasoning.text' | 'reasoning.encrypted' | 'reasoning.summary'
  /**
   * The format that made it: no other format sends it. The gateway makes `anthropic-claude-v1`, `google-gemini-v1`, `openai-responses-v1`;
   * a provider that passes other models on may name more.
   */
  readonly format: string
  /**
   * The id of the provider that handed it on, or encrypted it, and alone takes it back. Absent or `direct`: it came from the family
   * that made it, and goes back there.
   */
  readonly via?: string
  readonly text?: string
  readonly summary?: string
  readonly signature?: string
  /** Encrypted reasoning, as the provider spells it. */
  readonly data?: string
  /** The provider's id of the item, or the tool call that it belongs to. */
  readonly id?: string
  readonly index?: number
}

/** The most details of one answer, over all its choices. A model writes one for each of its steps. */
export const MAX_DETAILS = 2_048
/** What a detail takes in memory besides its texts, in bytes. */
export const DETAIL_BYTES = 200

/** Returns the characters of a detail's texts. */
export function sizeOf(detail: ReasoningDetail): number {
  const { format, text = '', summary = '', signature = '', data = '', id = '' } = detail
  return format.length + text.length + summary.length + signature.length + data.length + id.length
}

export function tooManyDetails(): Error {
  return new Error(`the answer has more than ${MAX_DETAILS} pieces of reasoning`)
}
