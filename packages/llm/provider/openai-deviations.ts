import type { JsonObject } from '../json/json-value.ts'

/** Where a provider's endpoint for OpenAI's chat completions differs from OpenAI's own. */
export interface OpenAiDeviations {
  /** The name it takes for the output cap. Default `max_tokens`. */
  readonly outputCap?: 'max_tokens' | 'max_completion_tokens'
  /** Takes the `developer` role. Default false: sent as `system`. */
  readonly developerRole?: boolean
  /** Refuses `stream_options` (it then sends usage unasked). Default false. */
  readonly refusesStreamOptions?: boolean
  /** `completion_tokens` leaves reasoning out (xAI chat). Default false. */
  readonly completionExcludesReasoning?: boolean
  /** Canonical parameters it refuses or ignores, by their wire name. */
  readonly unsupported?: readonly string[]
  /** Wire names that it spells otherwise, e.g. `seed` → `random_seed`. */
  readonly renamed?: Readonly<Record<string, string>>
  /** The provider's word for `tool_choice: required`. */
  readonly toolChoiceRequired?: string
  /** An effort → the fields that ask for it there. An effort without entry is sent as `reasoning_effort`. */
  readonly reasoningEfforts?: Readonly<Record<string, JsonObject>>
  /** Takes OpenRouter's `reasoning` object, which stands for `reasoning_effort` elsewhere. */
  readonly takesReasoning?: boolean
  /** Takes Anthropic's `cache_control` on parts and tools, and hands it on to models that know it. Default false: left out. */
  readonly takesCacheMarks?: boolean
  /** Reads stored files in place of messages that name them by `fileid://`. */
  readonly readsFileIds?: true
  /** The exact number of letters and digits that a tool-call id must have. Other ids are rewritten, alike in call and result. */
  readonly toolCallIdLength?: number
  /**
   * The name for an assistant message's reasoning, whichever name the caller uses; `refused`: it is left out. Absent: it
   * is sent under the caller's name.
   */
  readonly reasoningField?: 'reasoning_content' | 'reasoning' | 'refused'
  /** Stands for the reasoning of a message with tool calls that has lost it, where the provider refuses to go without. */
  readonly reasoningPlaceholder?: string
  /** True if the provider refuses a message of the user right after a tool's result, without one of the assistant between them. */
  readonly refusesUserAfterTool?: true
  /** Models with rules of their own; the first entry that names a model counts. */
  readonly models?: readonly OpenAiModelRule[]
  /** True if the provider has OpenAI's route that counts the input of a Responses request. */
  readonly countsInput?: true
  /** True if the provider has OpenAI's route that compacts a conversation. */
  readonly compacts?: true
  /** Keeps an answer unless `store` is false: where the account's own setting says so, or by default. */
  readonly storesAnswers?: true
  /** Models are reached by deployments: options `deployments` (model → deployment) and `api_version` (another path). */
  readonly deployments?: true
}

/** What some models of a provider refuse besides what the provider does. */
export interface OpenAiModelRule {
  /** Names, where `*` stands for any text. */
  readonly models: readonly string[]
  /** True if the model can reason, and gives its reasoning encrypted. */
  readonly reasons?: true
  /** It cannot be kept from reasoning, and refuses to be asked for it. */
  readonly alwaysReasons?: true
  /** Another maker's, whose server may refuse a `store` that its caller did not send. */
  readonly storesAnswers?: false
  /** Parameters that it refuses, by their chat-completions names. */
  readonly unsupported?: readonly string[]
  /**
   * When the model refuses these parameters: only while it reasons. `asked`: where an effort other than `none` is named; `unless-none`: wherever
   * the effort is not `none`. Absent: always.
   */
  readonly unsupportedWhile?: 'asked' | 'unless-none'
  /**
   * When an output cap is divided between `max_tokens`, which leaves reasoning out, and `thinking_budget`, which bounds it.
   * `asked`: the model reasons only where `enable_thinking` or a budget asks for it. `always`: it may reason unasked.
   */
  readonly reasonsBesideCap?: 'asked' | 'always'
  /** See OpenAiDeviations. */
  readonly refusesUserAfterTool?: true
  /** The name that it takes for the output cap, where it is not the provider's. */
  readonly outputCap?: 'max_tokens' | 'max_completion_tokens'
}
