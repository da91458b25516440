/** What a parser of messages notes besides the messages themselves. */
export interface MessageNotes {
  /** Paths of parts that no other format has a place for. */
  readonly nativeOnly: string[]
  /** A mark of prompt caching stands at a place that the format has for it. */
  asksForCaching: boolean
  /** A tool-call id carries reasoning that we packed into it, or reasoning has our mark of another provider. */
  carriesReasoning: boolean
}

export function noMessageNotes(nativeOnly: string[] = []): MessageNotes {
  return { nativeOnly, asksForCaching: false, carriesReasoning: false }
}
