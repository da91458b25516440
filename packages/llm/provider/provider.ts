import type { ClientFormatId } from '../request/format-id.ts'
import type { AudioService } from './audio-service.ts'
import type { CatalogFile } from './catalog-model.ts'
import type { EmbeddingService } from './embedding-service.ts'
import type { ImageService } from './image-service.ts'
import type { OpenAiDeviations } from './openai-deviations.ts'
import type { RerankService } from './rerank-service.ts'

/** A company, as data: a file in providers/. */
export interface Provider {
  readonly id: string
  readonly name: string
  /** `gen_ai.provider.name` by OpenTelemetry's conventions. Absent: the id. */
  readonly telemetryName?: string
  /** Where the company shows its customers their keys. Absent: there is no such page. */
  readonly keysUrl?: string
  readonly format: ClientFormatId
  /** The first rule that fits a request decides its format; if none does, the format is `format`. */
  readonly formatRules?: readonly FormatRule[]
  /** null: the credential must bring its own `base_url`. `{name}` stands for its option of that name (toBaseUrl). */
  readonly baseUrl: string | null
  /** Other addresses for single values of an option. */
  readonly baseUrlExceptions?: readonly {
    readonly option: string
    readonly value: string
    readonly baseUrl: string
  }[]
  /**
   * How the key travels (see authorize-request.ts). `none`: the key is optional, sent as Bearer when there is one.
   * `google`: the key is a service account's JSON, exchanged for `Target.accessToken`. `api-key`: in that header, unless
   * the options name an application whose secret it is (`tenant_id`, `client_id`): then it is exchanged too.
   */
  readonly auth: 'bearer' | 'none' | 'x-api-key' | 'x-goog-api-key' | 'google' | 'api-key' | 'aws'
  /** The service's name in signatures, with auth `aws`. */
  readonly awsService?: string
  /** The key is a document, such as a service account's JSON, and has lines. */
  readonly keyIsDocument?: true
  /** Absent: it takes none. */
  readonly options?: readonly ProviderOption[]
  /** Sent with every request, such as the version of an interface. */
  readonly headers?: Readonly<Record<string, string>>
  /** Where its list of models is, if on another host than the models; a credential's own address holds for both. */
  readonly modelsBaseUrl?: string
  /** The path of the list of models, after the base address. Absent: `/models`. */
  readonly modelsPath?: string
  /** Where a model stands, after the base address, in formats that name it in the path. Absent: `/models`. */
  readonly modelPath?: string
  /**
   * The path of the cheapest route that asks for the key, after the base address. Absent: its list of models. null: none, the
   * token that the key is exchanged for proves it.
   */
  readonly keyCheckPath?: string | null
  /** `any`: the models are the owner's own, so every name is accepted. */
  readonly models: 'catalog' | 'any'
  /**
   * The beginnings of names that go to the provider only if they are in the catalogue, in its own list or in the environment's
   * custom models. An empty text: no other name goes to it at all.
   */
  readonly exactNames?: readonly string[]
  /**
   * The names of the mounts (see Mount) whose API is this provider's own: a bare name that nothing knows goes to it from there.
   */
  readonly ownMounts?: readonly string[]
  /** The models in its catalogue are its own make: a bare model name goes to it first. */
  readonly maker?: true
  /** Fetches no addresses, also where its format has a word for them (see ClientFormat). */
  readonly inlinesImages?: true
  /** Names of models, where `*` stands for any text, that get no ids of calls in Gemini's format. */
  readonly refusesCallIds?: readonly string[]
  /** Where it takes Anthropic's format in an envelope of its own. */
  readonly messages?: MessagesEnvelope
  /** Where its usage tells what a request costs, which is believed then (see reported-cost.ts). Absent: not believed. */
  readonly reportsCost?: 'usage.cost' | 'usage.cost.total_cost' | 'usage.cost_in_usd_ticks'
  /** Output tokens that its models generate in a second at most, where that is more than of others (maxGenerated). */
  readonly tokensASecond?: number
  /** Answers inside the process, without network; its prices are fictitious. */
  readonly sandbox?: true
  readonly openai?: OpenAiDeviations
  /** Absent: it has no embeddings. */
  readonly embeddings?: EmbeddingService
  /** Absent: it makes no images. */
  readonly images?: ImageService
  /** Absent: it neither transcribes nor speaks. */
  readonly audio?: AudioService
  /** Absent: it has no rerankers. */
  readonly rerank?: RerankService
  readonly catalog?: CatalogFile
}

/** A setting that a provider's credential takes besides its key and address. */
export interface ProviderOption {
  readonly name: string
  /** `map`: an object of texts. */
  readonly type: 'text' | 'map'
  readonly required: boolean
  /** Never returned, and hidden while it is typed. */
  readonly secret: boolean
  /** What a form calls it. */
  readonly label: string
  /** What it is and where to find it, in a sentence. */
  readonly help: string
}

/** Requests that a provider takes in another format than its main one (see choose-client-format.ts). */
export interface FormatRule {
  readonly format: ClientFormatId
  /** Names of models, where `*` stands for any text. Absent: every model. */
  readonly models?: readonly string[]
  /**
   * `same-format`: only what the caller wrote in that format, so that it passes through. `same-format-flat`: the same, but
   * without tools in namespaces or items, which only OpenAI's own servers know. `tools`: only requests that have tools;
   * `tools-unless-none`: of those, the ones whose reasoning effort is not `none`; `tools-with-reasoning`: of those, the ones that name
   * an effort. Absent: every request.
   */
  readonly when?: 'same-format' | 'same-format-flat' | 'tools' | 'tools-unless-none' | 'tools-with-reasoning'
}

/** Anthropic's Messages at a cloud: the model stands in the path, `{model}`, and the version in the body. */
export interface MessagesEnvelope {
  /** The path of plain answers, after the base address. */
  readonly plainPath: string
  readonly streamedPath: string
  readonly version: string
}
