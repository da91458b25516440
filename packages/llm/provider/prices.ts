/** USD per million tokens, at most six decimals. A cache bucket without price costs what input costs. */
export interface TokenPrices {
  readonly input: number
  readonly output: number
  readonly cache_read?: number
  readonly cache_write?: number
  /** Of what is kept for an hour. Absent: as `cache_write`. */
  readonly cache_write_1h?: number
}

export interface ModelPricing extends TokenPrices {
  /** USD for each request, besides its tokens: a model that always searches the web. */
  readonly per_request?: number
  /** The price of audio input. Absent: unknown, so audio is refused. */
  readonly audio_input?: number
  /** What the whole request costs where its input, cached or not, is over so many tokens. */
  readonly long_context?: TokenPrices & { readonly over_input_tokens: number }
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

/** What transcripts and speech cost, in USD: by the hour or the character, or by million tokens of each kind. */
export interface AudioPrices {
  /** An hour of the audio that is transcribed or translated. */
  readonly per_hour?: number
  /** Each request is billed for at least so many seconds. */
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
