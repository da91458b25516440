/** What is being tried in this tab. It stays in the tab; no key or token is part of it. */
export interface Draft {
  readonly model: string
  /** Answers the same prompts beside the first; empty: none does. */
  readonly otherModel: string
  readonly system: string
  readonly prompt: string
  readonly temperature: string
  readonly topP: string
  readonly maxOutputTokens: string
  readonly seed: string
  /** Empty: the model's own. */
  readonly reasoningEffort: string
  /** JSON: a list of tools; empty: none. */
  readonly tools: string
  /** The JSON Schema of the answer, as text. Empty if the answer may be any text. */
  readonly schema: string
}

export const INITIAL_DRAFT: Draft = {
  model: 'sandbox/echo',
  otherModel: '',
  system: '',
  prompt: 'Say hello to the first request that went through this gateway.',
  temperature: '',
  topP: '',
  maxOutputTokens: '',
  seed: '',
  reasoningEffort: '',
  tools: '',
  schema: '',
}
