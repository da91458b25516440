export type EmbeddingFormatId =
  | 'openai-embeddings'
  | 'gemini-embed'
  | 'vertex-predict'
  | 'bedrock-invoke'
  | 'cohere-embed'
  | 'ollama-embed'

/** How a provider's embeddings are reached: data in its file. */
export interface EmbeddingService {
  readonly format: EmbeddingFormatId
  /** Fewer inputs a call than the format's own limit. */
  readonly maxInputs?: number
  /** With format `openai-embeddings`: where it departs from OpenAI's own. */
  readonly openai?: OpenAiEmbeddingDeviations
}

export interface OpenAiEmbeddingDeviations {
  /** The path after the base address. Default `/embeddings`. */
  readonly path?: string
  /** The provider's name for `dimensions`. */
  readonly dimensions?: string
  /** True if the provider does not know `encoding_format`: it answers with numbers, or always with `answers`. */
  readonly refusesEncoding?: true
  /** True if `encoding_format` must be left out to get numbers. */
  readonly refusesFloat?: true
  /** What its base64 holds. Default: little-endian 32-bit floats. */
  readonly answers?: 'int8'
  /** The provider's words for `query` and `document`. Absent: it accepts no `input_type`. */
  readonly inputTypes?: { readonly query: string; readonly document: string; readonly isRequired?: true }
  readonly refusesUser?: true
  /** Takes texts only. */
  readonly refusesTokens?: true
}
