import type { AudioPrices, HostedToolPrice, ImagePrices, ModelPricing, RerankPrices } from './prices.ts'

export type Capability =
  | 'chat'
  | 'tools'
  | 'response_format'
  | 'vision'
  | 'reasoning'
  | 'embeddings'
  | 'images'
  | 'transcription'
  | 'speech'
  | 'rerank'

export interface CatalogModel {
  readonly id: string
  readonly display_name: string
  readonly context_window: number | null
  readonly max_output_tokens: number | null
  readonly capabilities: readonly Capability[]
  /** What it reads besides text and images. */
  readonly inputs?: readonly ('pdf' | 'audio' | 'video')[]
  /** True if the model refuses `temperature` and `top_p`. */
  readonly fixed_sampling?: true
  /** The efforts it can be asked for, in the provider's words. */
  readonly reasoning_efforts?: readonly string[]
  /** The numbers of tokens to reason with that the model accepts. */
  readonly reasoning_budget?: { readonly min?: number; readonly max?: number }
  /** The dimensions of an embedding if the request names none. */
  readonly dimensions?: number
  readonly image_pricing?: ImagePrices
  readonly audio_pricing?: AudioPrices
  readonly rerank_pricing?: RerankPrices
  /** null: unknown, which is never zero. */
  readonly pricing: ModelPricing | null
}

export interface CatalogFile {
  readonly provider: string
  /** Where the figures come from, and the day they were read (ISO 8601). */
  readonly source: string
  readonly date: string
  /** Tools that the provider runs. A tool that is not listed has no known price. */
  readonly hosted_tools?: readonly HostedToolPrice[]
  readonly models: readonly CatalogModel[]
}
