/** USD per million tokens, at most six decimals. A cache bucket without price costs what input costs. */
export interface TokenPrices {
  readonly input: number
  readonly output: number
  /** The price of all output of an answer for which the model thought. Absent: as `output`. */
  readonly thinking_output?: number
  readonly cache_read?: number
  readonly cache_write?: number
  /** The price of writing what is kept for an hour. Absent: as `cache_write`. */
  readonly cache_write_1h?: number
}

export interface ModelPricing extends TokenPrices {
  /** USD for each request, besides its tokens: a model that always searches the web. */
  readonly per_request?: number
  /** The price of audio input. Absent: unknown, so audio is refused. */
  readonly audio_input?: number
  /**
   * The prices of the whole request if its input, cached or not, exceeds `over_input_tokens`: the last entry that it exceeds counts.
   * From the shortest input to the longest.
   */
  readonly long_context?: readonly (TokenPrices & { readonly over_input_tokens: number })[]
  /** What tokens cost in another service tier than the usual one, where a list knows it. */
  readonly tiers?: { readonly [tier in ServiceTier]?: TokenPrices }
}

/** What images cost, in USD: by the image, or by million tokens of each kind. */
export interface ImagePrices {
  readonly per_image?: number
  readonly text_input?: number
  readonly text_cache_read?: number
  readonly image_input?: number
  readonly image_cache_read?: number
  readonly text_output?: number
  readonly image_output?: number
}

/** What one kind of tool costs that a provider runs, besides the tokens that it adds. */
export interface HostedToolPrice {
  /** What is counted, in one word for all formats. */
  readonly tool: HostedTool
  /** The types by which a request asks for it, in the provider's words. */
  readonly types: readonly string[]
  /** Names of models, where `*` stands for any text; the first entry that fits counts. Absent: every model. */
  readonly models?: readonly string[]
  /** `use`: each search, query or container. `request`: a request that used it, however often. */
  readonly per: 'use' | 'request'
  /** The price with at most nine decimals. Zero: it costs only the tokens that it adds. */
  readonly usd: number
  /** Where the price comes from, and the day or month. */
  readonly source: string
}

/** Tools that providers run and whose uses an answer counts. */
export type HostedTool =
  | 'web_search'
  | 'x_search'
  | 'code_interpreter'
  | 'google_search'
  | 'url_context'
  | 'code_execution'

/** What transcripts and speech cost, in USD: by the hour or the character, or by million tokens of each kind. */
export interface AudioPrices {
  /** An hour of the audio that is transcribed or translated. */
  readonly per_hour?: number
  /** The fewest seconds that a request is billed for. */
  readonly min_seconds?: number
  /** A million characters of the text that is spoken. */
  readonly per_million_characters?: number
  readonly text_input?: number
  readonly audio_input?: number
  readonly text_output?: number
  readonly audio_output?: number
}

/** What reranking costs, in USD: by the search, or by million tokens. */
export interface RerankPrices {
  readonly per_search?: number
  readonly input?: number
}

/** Tiers of service with prices of their own, in OpenAI's words: slower and cheaper, faster and dearer. */
export type ServiceTier = 'flex' | 'priority'
