import type { EmbeddingService } from './embeddings/embedding-service.ts'
import type { ImageService } from './images/image-service.ts'

/**
 * The canonical shapes that every wire format is translated to and from.
 *
 * Messages, tools and formats keep the OpenAI chat-completions shapes (contract.md §3 names them as the native ones),
 * so that the two most used surfaces need no translation of their largest part. The parameters around them are ours.
 */

export type Json = string | number | boolean | null | Json[] | JsonObject
export type JsonObject = { [key: string]: Json | undefined }

/** A wire format that we call providers in. */
export type DialectId =
  | 'openai-chat'
  | 'openai-responses'
  | 'anthropic-messages'
  | 'gemini-content'
  | 'bedrock-converse'
  | 'cohere-v2'
  | 'ollama-chat'

/** A wire format that a caller speaks to us. `native` is the gateway's own `/v1/chat`. */
export type SurfaceId =
  | 'native'
  | DialectId
  /** A Responses body that was sent to chat completions, as some editors do: nobody's own format. */
  | 'openai-mixed'

/** How a provider cuts its stream into events. */
export type Framing = 'sse' | 'aws-event-stream' | 'ndjson'

export type Capability =
  | 'chat'
  | 'tools'
  | 'response_format'
  | 'vision'
  | 'reasoning'
  | 'embeddings'
  | 'images'

export interface ToolCall {
  id: string
  type: 'function'
  function: { name: string; arguments: string }
}

export type ContentPart = JsonObject & { type: string }

export interface Message {
  role: 'system' | 'developer' | 'user' | 'assistant' | 'tool'
  content?: string | ContentPart[] | null
  name?: string
  tool_calls?: ToolCall[]
  tool_call_id?: string
  [field: string]: unknown
}

export interface FunctionTool {
  type: 'function'
  function: { name: string; description?: string; parameters?: JsonObject; strict?: boolean | null }
}

export type ToolChoice = 'auto' | 'none' | 'required' | { type: 'function'; function: { name: string } }

export type ResponseFormat =
  | { type: 'text' }
  | { type: 'json_object' }
  | {
      type: 'json_schema'
      json_schema: { name: string; schema?: JsonObject; strict?: boolean | null; description?: string }
    }

export type ReasoningEffort = 'none' | 'minimal' | 'low' | 'medium' | 'high'

/** One chat request as the gateway understands it, whichever surface it came in by. */
export interface ChatRequest {
  /** As the caller named it: `provider/model`, an alias or a bare name. */
  readonly model: string
  readonly messages: readonly Message[]
  readonly stream: boolean
  /** Did the caller ask for usage in the stream? We always ask the provider. */
  readonly includeUsage: boolean
  readonly tools?: readonly FunctionTool[]
  readonly toolChoice?: ToolChoice
  readonly parallelToolCalls?: boolean
  readonly responseFormat?: ResponseFormat
  readonly maxOutputTokens?: number
  readonly temperature?: number
  readonly topP?: number
  readonly stop?: readonly string[]
  readonly seed?: number
  readonly presencePenalty?: number
  readonly frequencyPenalty?: number
  readonly reasoningEffort?: string
  readonly user?: string
  /** Input that goes along unread in a body that passes through, such as documents to answer from: it is counted only. */
  readonly passedInput?: Json
  /** Merged into the body of the provider named by the key. */
  readonly providerOptions?: { readonly [provider: string]: JsonObject }
}

/**
 * Tokens in disjoint buckets: they add up, so prices apply to each alone (wire facts §0.1).
 * input = uncachedInput + cacheRead + cacheWrite + cacheWrite1h; output = output + reasoning.
 */
export interface Usage {
  readonly uncachedInput: number
  /** Of `uncachedInput`, what was heard: priced apart where the model's prices say so. */
  readonly audioInput?: number
  readonly cacheRead: number
  readonly cacheWrite: number
  /** Written to be kept for an hour, where a provider prices that apart; not part of `cacheWrite`. */
  readonly cacheWrite1h?: number
  /** Visible output without reasoning. */
  readonly output: number
  readonly reasoning: number
  /** The answer says that it was served in this tier. Absent: in the usual one, as far as is known. */
  readonly serviceTier?: ServiceTier
  /** What the provider says that the request costs; whole nano-dollars. It counts before our own prices. */
  readonly reportedCostNanoUsd?: number
}

/**
 * Reasoning state of one provider, opaque to everybody else: it has to come back in the next turn, and goes to the
 * provider family that made it only. The shape is the one that OpenRouter's clients know.
 */
export interface ReasoningDetail {
  readonly type: 'reasoning.text' | 'reasoning.encrypted' | 'reasoning.summary'
  /**
   * Who made it: no other dialect sends it. Ours are `anthropic-claude-v1`, `google-gemini-v1`, `openai-responses-v1`;
   * a provider that passes other models on may name more.
   */
  readonly format: string
  /**
   * The id of the provider that handed it on and alone takes it back. Absent or `direct`: it came from the family that
   * made it, and goes back there.
   */
  readonly via?: string
  readonly text?: string
  readonly summary?: string
  readonly signature?: string
  /** Encrypted reasoning, as the provider spells it. */
  readonly data?: string
  /** The provider's id of the item, or the tool call that it belongs to. */
  readonly id?: string
  readonly index?: number
}

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter'

export interface ReplyMessage {
  role: 'assistant'
  content: string | null
  tool_calls?: ToolCall[]
  reasoning?: string
  reasoning_details?: readonly ReasoningDetail[]
  refusal?: string
}

export interface ChatReply {
  readonly choices: readonly { index: number; message: ReplyMessage; finishReason: FinishReason }[]
  /** undefined: the provider named none. */
  readonly usage: Usage | undefined
}

export interface ToolCallDelta {
  index: number
  id?: string
  type?: 'function'
  function?: { name?: string; arguments?: string }
}

/** What one frame of a provider's stream means. */
export type StreamEvent =
  | {
      readonly type: 'delta'
      readonly index: number
      readonly role?: 'assistant'
      readonly content?: string
      readonly reasoning?: string
      readonly reasoningDetails?: readonly ReasoningDetail[]
      readonly refusal?: string
      readonly toolCalls?: readonly ToolCallDelta[]
      readonly finishReason?: FinishReason
    }
  | { readonly type: 'usage'; readonly usage: Usage }
  | { readonly type: 'error'; readonly error: UpstreamError }
  | { readonly type: 'end' }

/** Why a provider said no, by cause rather than by status (wire facts §3.3). */
export type UpstreamErrorKind =
  | 'rate_limited'
  | 'overloaded'
  | 'quota'
  | 'auth'
  | 'context_length'
  | 'content_filter'
  | 'model_not_found'
  | 'bad_request'
  | 'unavailable'
  | 'timeout'
  | 'interrupted'

export interface UpstreamError {
  readonly kind: UpstreamErrorKind
  readonly status?: number
  /** How long the provider asks to wait, in milliseconds. */
  readonly retryAfterMs?: number
  /** The provider's own word (`x-should-retry`), which overrides what the kind says. */
  readonly shouldRetry?: boolean
  /** The provider's own words: for the server's log only, never for a caller. */
  readonly detail: string
}

/** What to call: a provider's address for one model with one credential. */
export interface Target {
  readonly provider: Provider
  /** The model's name as the provider knows it. */
  readonly model: string
  /** Address up to and with its version segment, no trailing slash. */
  readonly baseUrl: string
  /** The decrypted provider key; empty where none is needed. */
  readonly apiKey: string
  /** The credential's own settings, as the provider's `options` list them. */
  readonly options?: JsonObject
  /** What the key was exchanged for, where the provider takes short-lived tokens (`Provider.auth`). */
  readonly accessToken?: string
  /** The most that the model gives in one answer, for formats that have to name a cap; undefined: unknown. */
  readonly maxOutputTokens?: number | undefined
}

/** A request without the credential: authorizeRequest adds that last, because a signature covers the rest. */
export interface UpstreamRequest {
  /** Absent: POST. */
  readonly method?: 'GET' | 'POST'
  readonly origin: string
  /** With query, from the origin's root. */
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: Buffer
  /** Wire names of what the format has no word for and the request asks for in another way. Absent: nothing. */
  readonly emulated?: readonly string[]
}

/** Where a provider's OpenAI-format endpoint departs from OpenAI's own (wire facts §1.2). */
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
  /** Its word for `tool_choice: required`. */
  readonly toolChoiceRequired?: string
  /** An effort → the fields that ask for it there. An effort without entry is sent as `reasoning_effort`. */
  readonly reasoningEfforts?: Readonly<Record<string, JsonObject>>
  /** It takes only tool-call ids of exactly so many letters and digits. Others are rewritten, alike in call and result. */
  readonly toolCallIdLength?: number
  /**
   * What becomes of an assistant message's reasoning, however the caller spells it: sent under this name, or left out
   * where the provider refuses it. Absent: as it came.
   */
  readonly reasoningField?: 'reasoning_content' | 'reasoning' | 'refused'
  /** Stands for the reasoning of a message with tool calls that has lost it, where the provider refuses to go without. */
  readonly reasoningPlaceholder?: string
  /** Models with rules of their own; the first entry that names a model counts. */
  readonly models?: readonly OpenAiModelRule[]
  /** Models are reached by deployments: options `deployments` (model → deployment) and `api_version` (another path). */
  readonly deployments?: true
}

/** What some models of a provider refuse besides what the provider does. */
export interface OpenAiModelRule {
  /** Names, where `*` stands for any text. */
  readonly models: readonly string[]
  /** It can reason, and gives its reasoning encrypted. */
  readonly reasons?: true
  /** Parameters that it refuses, by their chat-completions names. */
  readonly unsupported?: readonly string[]
  /**
   * It refuses them only while it reasons. `asked`: where an effort other than `none` is named; `unless-none`: wherever
   * the effort is not `none`. Absent: always.
   */
  readonly unsupportedWhile?: 'asked' | 'unless-none'
  /** The name that it takes for the output cap, where it is not the provider's. */
  readonly outputCap?: 'max_tokens' | 'max_completion_tokens'
}

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
  /** Of what is heard. Absent: unknown. */
  readonly audio_input?: number
  /** What the whole request costs where its input, cached or not, is over so many tokens. */
  readonly long_context?: TokenPrices & { readonly over_input_tokens: number }
  /** What tokens cost in another service tier than the usual one, where a list knows it. */
  readonly tiers?: { readonly [tier in ServiceTier]?: TokenPrices }
}

/** Tiers of service with prices of their own, in OpenAI's words: slower and cheaper, faster and dearer. */
export type ServiceTier = 'flex' | 'priority'

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

export interface CatalogModel {
  readonly id: string
  readonly display_name: string
  readonly context_window: number | null
  readonly max_output_tokens: number | null
  readonly capabilities: readonly Capability[]
  /** What it reads besides text and images. */
  readonly inputs?: readonly ('pdf' | 'audio' | 'video')[]
  /** It refuses `temperature` and `top_p`. */
  readonly fixed_sampling?: true
  /** The efforts it can be asked for, in the provider's words. */
  readonly reasoning_efforts?: readonly string[]
  /** It takes a number of tokens to reason with, within these. */
  readonly reasoning_budget?: { readonly min?: number; readonly max?: number }
  /** Of an embedding, where none are asked for. */
  readonly dimensions?: number
  readonly image_pricing?: ImagePrices
  /** null: unknown, which is never zero. */
  readonly pricing: ModelPricing | null
}

export interface CatalogFile {
  readonly provider: string
  /** Where the figures come from, and the day they were read (ISO 8601). */
  readonly source: string
  readonly date: string
  readonly models: readonly CatalogModel[]
}

/** A setting that a provider's credential takes besides its key and address. */
export interface ProviderOption {
  readonly name: string
  /** `map`: an object of texts. */
  readonly type: 'text' | 'map'
  readonly required: boolean
}

/** Requests that a provider takes in another format than its main one (see find-dialect.ts). */
export interface DialectRule {
  readonly dialect: DialectId
  /** Names of models, where `*` stands for any text. Absent: every model. */
  readonly models?: readonly string[]
  /**
   * `same-format`: only what the caller wrote in that format, so that it passes through. `tools-with-reasoning`: only
   * requests that have tools and name a reasoning effort. Absent: every request.
   */
  readonly when?: 'same-format' | 'tools-with-reasoning'
}

/** Anthropic's Messages at a cloud: the model stands in the path, `{model}`, and the version in the body. */
export interface MessagesEnvelope {
  /** After the base address. */
  readonly plainPath: string
  readonly streamedPath: string
  readonly version: string
}

/** A company, as data: a file in providers/. */
export interface Provider {
  readonly id: string
  readonly name: string
  readonly dialect: DialectId
  /** The first rule that fits a request decides its format; where none does it is `dialect`. */
  readonly dialectRules?: readonly DialectRule[]
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
  /** With auth `aws`: the service's name in signatures. */
  readonly awsService?: string
  /** The key is a document, such as a service account's JSON, and has lines. */
  readonly keyIsDocument?: true
  /** Absent: it takes none. */
  readonly options?: readonly ProviderOption[]
  /** Sent with every request, such as the version of an interface. */
  readonly headers?: Readonly<Record<string, string>>
  /** Where its list of models is, if on another host than the models; a credential's own address holds for both. */
  readonly modelsBaseUrl?: string
  /** Of its list of models, after the base address. Absent: `/models`. */
  readonly modelsPath?: string
  /** Where a model stands, after the base address, in formats that name it in the path. Absent: `/models`. */
  readonly modelPath?: string
  /**
   * Of the cheapest route that asks for the key, after the base address. Absent: its list of models. null: none, the
   * token that the key is exchanged for proves it.
   */
  readonly keyCheckPath?: string | null
  /** `any`: the models are the owner's own, so every name is taken (contract.md §3). */
  readonly models: 'catalog' | 'any'
  /** The models in its catalogue are its own make: a bare model name goes to it first (contract.md §3). */
  readonly maker?: true
  /** Fetches no addresses, also where its format has a word for them (see ClientDialect). */
  readonly inlinesImages?: true
  /** Where it takes Anthropic's format in an envelope of its own. */
  readonly messages?: MessagesEnvelope
  /** Where its usage tells what a request costs, which is believed then (see reported-cost.ts). Absent: not believed. */
  readonly reportsCost?: 'usage.cost' | 'usage.cost.total_cost' | 'usage.cost_in_usd_ticks'
  /** Answers inside the process, without network; its prices are fictitious. */
  readonly sandbox?: true
  readonly openai?: OpenAiDeviations
  /** Absent: it has no embeddings. */
  readonly embeddings?: EmbeddingService
  /** Absent: it makes no images. */
  readonly images?: ImageService
  readonly catalog?: CatalogFile
}

/** A decoder of one stream: it keeps what later frames need. */
export interface StreamDecoder {
  /** `data` is the payload of one SSE event, `event` its name. */
  decode(data: string, event?: string): readonly StreamEvent[]
  /** What was told of usage so far, where a provider tells the input first: for a stream that breaks off. */
  partialUsage?(): Usage | undefined
}

/** A route of a format that counts a request's input without answering it. */
export interface TokenCounter {
  encodeRequest(request: ChatRequest, target: Target, source: SourceBody | undefined): UpstreamRequest
  /** undefined: the answer has no count. */
  decodeReply(body: JsonObject): number | undefined
}

/** The side of a wire format on which we are the client. Pure. */
export interface ClientDialect {
  readonly id: DialectId
  readonly framing: Framing
  /** The provider fetches no addresses: images that a request names by `https:` are fetched and sent along. */
  readonly inlinesImages?: true
  /** A body of this very format goes out as it came, with the addresses in it. */
  readonly passesOwn?: true
  /** Without `source` the body is made from the request alone. `dropped`: wire names that must not be sent. */
  encodeRequest(
    request: ChatRequest,
    target: Target,
    source: SourceBody | undefined,
    dropped?: readonly string[],
  ): UpstreamRequest
  /**
   * Wire names of the parameters that are set, that the target cannot honour, and whose loss would change the answer.
   * With `source`, also those that only a caller of the same format can send.
   */
  findUnsupportedParams(
    request: ChatRequest,
    provider: Provider,
    model: string,
    source?: SourceBody,
  ): readonly string[]
  /** A reply that carries an error instead of an answer has no choices. */
  decodeReply(body: JsonObject, target: Target): ChatReply
  openStream(target: Target): StreamDecoder
  readonly tokenCounter?: TokenCounter
  /** `body` as received, any content type. */
  decodeError(
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
    body: string,
  ): UpstreamError
}

/** What our own answer says about itself when we serve a format. */
export interface ReplyEnvelope {
  readonly id: string
  /** Unix seconds. */
  readonly created: number
  readonly model: string
}

/** The received bytes of a body, so that what stays the same is not serialised again where the formats agree. */
export interface SourceBody {
  readonly surface: SurfaceId
  readonly bytes: Buffer
  /** Of every top-level field: where its key starts and its value ends (byte offsets), see json/json-scan.ts. */
  readonly fields: ReadonlyMap<string, FieldSpan>
  /** The caller's headers that belong to its format and go to a provider of the same format only. */
  readonly headers?: Readonly<Record<string, string>>
}

export interface FieldSpan {
  readonly keyStart: number
  readonly valueStart: number
  readonly valueEnd: number
}
