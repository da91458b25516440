/** The request and the answer of `POST /v1/chat`. */

export interface TextPart {
  readonly type: 'text'
  readonly text: string
}

export interface ImagePart {
  readonly type: 'image_url'
  /** An `https:` or a data URL. */
  readonly image_url: { readonly url: string; readonly detail?: 'auto' | 'low' | 'high' }
}

export interface FilePart {
  readonly type: 'file'
  /** A PDF as data URL. */
  readonly file: { readonly file_data: string; readonly filename?: string }
}

export interface AudioPart {
  readonly type: 'input_audio'
  readonly input_audio: { readonly data: string; readonly format: 'wav' | 'mp3' }
}

export type ContentPart = TextPart | ImagePart | FilePart | AudioPart

export interface ToolCall {
  readonly id: string
  readonly type: 'function'
  /** `arguments` is JSON as text, as the model wrote it. */
  readonly function: { readonly name: string; readonly arguments: string }
}

export type ChatMessage =
  | { readonly role: 'system' | 'developer'; readonly content: string | readonly TextPart[] }
  | { readonly role: 'user'; readonly content: string | readonly ContentPart[]; readonly name?: string }
  | {
      readonly role: 'assistant'
      readonly content?: string | readonly TextPart[] | null
      readonly tool_calls?: readonly ToolCall[]
      /** The reasoning as received: some models need it back. */
      readonly reasoning?: unknown
    }
  | {
      readonly role: 'tool'
      readonly tool_call_id: string
      readonly content: string | readonly ContentPart[]
    }

export interface Tool {
  readonly type: 'function'
  readonly function: {
    readonly name: string
    readonly description?: string
    /** A JSON schema. */
    readonly parameters?: Readonly<Record<string, unknown>>
    readonly strict?: boolean
  }
}

export interface JsonSchemaFormat {
  readonly type: 'json_schema'
  readonly json_schema: {
    readonly name: string
    readonly schema: Readonly<Record<string, unknown>>
    readonly description?: string
    readonly strict?: boolean
  }
}

export interface ChatParams {
  /** `provider/model`, an alias, or a bare name. */
  readonly model: string
  readonly messages: readonly ChatMessage[]
  readonly tools?: readonly Tool[]
  readonly tool_choice?:
    | 'auto'
    | 'none'
    | 'required'
    | { readonly type: 'function'; readonly function: { readonly name: string } }
  readonly parallel_tool_calls?: boolean
  readonly response_format?: { readonly type: 'text' | 'json_object' } | JsonSchemaFormat
  readonly max_output_tokens?: number
  readonly temperature?: number
  readonly top_p?: number
  /** Up to 4. */
  readonly stop?: string | readonly string[]
  readonly seed?: number
  readonly presence_penalty?: number
  readonly frequency_penalty?: number
  readonly reasoning_effort?: 'none' | 'minimal' | 'low' | 'medium' | 'high'
  /** A field of the log record, never an identity. */
  readonly user?: string
  /** Up to 16 pairs, kept with the log. */
  readonly metadata?: Readonly<Record<string, string>>
  /** From 1,000 to 600,000, for each of the gateway's own attempts. */
  readonly timeout_ms?: number
  /** Secret keys only: on whose behalf the request runs. */
  readonly end_user?: string
  /** Secret keys only: further fields for one provider's body. */
  readonly provider_options?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter'

export interface ChatUsage {
  readonly input_tokens: number
  readonly output_tokens: number
  readonly total_tokens: number
  readonly input_tokens_details: { readonly cached_tokens: number; readonly cache_write_tokens: number }
  readonly output_tokens_details: { readonly reasoning_tokens: number }
}

export interface ChatAnswer {
  /** The request's id. */
  readonly id: string
  readonly object: 'chat.completion'
  /** Unix seconds. */
  readonly created: number
  /** The model that answered, also where an alias was asked for. */
  readonly model: string
  readonly provider: string
  readonly choices: readonly {
    readonly index: number
    readonly message: {
      readonly role: 'assistant'
      readonly content: string | null
      readonly tool_calls?: readonly ToolCall[]
      readonly reasoning?: unknown
      readonly refusal?: string | null
    }
    readonly finish_reason: FinishReason
  }[]
  readonly usage: ChatUsage
  /** Null where the model's price is unknown. */
  readonly cost_usd: number | null
}

export interface ChatDelta {
  readonly role?: 'assistant'
  readonly content?: string | null
  readonly tool_calls?: readonly {
    readonly index: number
    readonly id?: string
    readonly type?: 'function'
    readonly function?: { readonly name?: string; readonly arguments?: string }
  }[]
  readonly reasoning?: unknown
  readonly refusal?: string | null
}

export interface ChatChunk {
  readonly id: string
  readonly object: 'chat.completion.chunk'
  readonly created: number
  readonly model: string
  readonly provider?: string
  readonly choices: readonly {
    readonly index: number
    readonly delta: ChatDelta
    readonly finish_reason?: FinishReason | null
  }[]
  /** In the last chunk. */
  readonly usage?: ChatUsage | null
  /** In the last chunk. Null where the model's price is unknown. */
  readonly cost_usd?: number | null
}
