/** The settings of the playground. They are stored in the tab only and contain no key or token. */
export interface Draft {
  /** Empty until somebody chooses one. */
  readonly model: string
  /** The model that answers the same prompts beside the first one. Empty for none. */
  readonly otherModel: string
  readonly system: string
  readonly prompt: string
  readonly temperature: string
  readonly topP: string
  readonly maxOutputTokens: string
  readonly seed: string
  /** Empty for the model's default. */
  readonly reasoningEffort: string
  /** A list of tools as JSON. Empty for none. */
  readonly tools: string
  /** The JSON Schema of the answer, as text. Empty if the answer may be any text. */
  readonly schema: string
}

/** The sandbox's model, which development begins with. */
export const SANDBOX_MODEL = 'sandbox/echo'

export const INITIAL_DRAFT: Draft = {
  model: '',
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
