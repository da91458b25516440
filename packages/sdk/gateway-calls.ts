import type { ChatAnswer, ChatParams } from './chat.ts'
import { ChatStream, readStream } from './chat-stream.ts'
import { createGatewayFetch, type GatewayFetch } from './gateway-fetch.ts'
import {
  type EmbeddingAnswer,
  type EmbeddingParams,
  type Feedback,
  type FeedbackParams,
  type ImageAnswer,
  type ImageEditParams,
  type ImageParams,
  type Model,
  toForm,
} from './model-calls.ts'
import type { Call, CallOptions, Credential, Transport } from './transport.ts'

/** The gateway breaks each silence of a stream after 15 s with a comment. */
const DEFAULT_IDLE_TIMEOUT_MS = 60_000

export interface StreamOptions extends CallOptions {
  /** How long a stream may be silent between two chunks; 60 s by default. 0 means without limit. */
  readonly idleTimeoutMs?: number | undefined
}

/** What the official OpenAI client takes. */
export interface OpenAiOptions {
  readonly apiKey: string
  readonly baseURL: string
  readonly fetch: GatewayFetch
  readonly maxRetries: number
  readonly dangerouslyAllowBrowser: true
}

export interface GatewayAddress {
  readonly gatewayUrl: string
  /** Where the gateway serves OpenAI's format. */
  readonly compatPrefix: string
}

/** The calls that a client token and a secret key may both make. */
export class GatewayCalls {
  readonly #transport: Transport
  readonly #credential: Credential
  readonly #gatewayUrl: string
  readonly #compatUrl: string
  /** A `fetch` with the caller's credential, for this gateway's addresses only. */
  readonly fetch: GatewayFetch

  constructor(transport: Transport, credential: Credential, address: GatewayAddress) {
    this.#transport = transport
    this.#credential = credential
    this.#gatewayUrl = address.gatewayUrl
    this.#compatUrl = `${address.gatewayUrl}${address.compatPrefix}/v1`
    this.fetch = createGatewayFetch(transport, credential, address.gatewayUrl)
  }

  chat(params: ChatParams, options: CallOptions = {}): Promise<ChatAnswer> {
    return this.#post('/v1/chat', params, options)
  }

  /** Returns the answer as it is written. Nothing is sent before the first chunk is asked for. */
  streamChat(params: ChatParams, options: StreamOptions = {}): ChatStream {
    const { idleTimeoutMs = DEFAULT_IDLE_TIMEOUT_MS } = options
    const call = this.#toPost('/v1/chat', { ...params, stream: true })
    return new ChatStream(
      signal =>
        this.#transport.call(call, this.#credential, { ...options, signal }, readStream(idleTimeoutMs)),
      options.signal,
    )
  }

  embed(params: EmbeddingParams, options: CallOptions = {}): Promise<EmbeddingAnswer> {
    return this.#post('/v1/embeddings', params, options)
  }

  generateImages(params: ImageParams, options: CallOptions = {}): Promise<ImageAnswer> {
    const call = { ...this.#toPost('', params), url: `${this.#compatUrl}/images/generations` }
    return this.#transport.callJson(call, this.#credential, options)
  }

  editImages(params: ImageEditParams, options: CallOptions = {}): Promise<ImageAnswer> {
    const url = `${this.#compatUrl}/images/edits`
    const call: Call = { method: 'POST', url, form: toForm(params), hasIdempotencyKey: true }
    return this.#transport.callJson(call, this.#credential, options)
  }

  /** Lists the models that this credential may call. */
  async listModels(options: CallOptions = {}): Promise<readonly Model[]> {
    const url = `${this.#gatewayUrl}/v1/models`
    const list = await this.#transport.callJson<{ data: readonly Model[] }>(
      { method: 'GET', url },
      this.#credential,
      options,
    )
    return list.data
  }

  /** Ends a request by its id. Returns false where none by that id is in flight for this caller. */
  async cancel(requestId: string, options: CallOptions = {}): Promise<boolean> {
    const url = `${this.#gatewayUrl}/v1/requests/${encodeURIComponent(requestId)}/cancel`
    const { canceled } = await this.#transport.callJson<{ canceled: boolean }>(
      { method: 'POST', url },
      this.#credential,
      options,
    )
    return canceled
  }

  /** Rates an answer. Needs the scope `feedback`. */
  sendFeedback(params: FeedbackParams, options: CallOptions = {}): Promise<Feedback> {
    return this.#post('/v1/feedback', params, options)
  }

  /** Returns the options of the official OpenAI client: `new OpenAI(rideau.openAiOptions())`. */
  openAiOptions(): OpenAiOptions {
    return {
      apiKey: 'replaced-by-the-sdk',
      baseURL: this.#compatUrl,
      fetch: this.fetch,
      // This library's fetch makes them, all with one Idempotency-Key.
      maxRetries: 0,
      // What it sends is a short-lived client token.
      dangerouslyAllowBrowser: true,
    }
  }

  #post<T>(path: string, json: unknown, options: CallOptions): Promise<T> {
    return this.#transport.callJson(this.#toPost(path, json), this.#credential, options)
  }

  #toPost(path: string, json: unknown): Call {
    return { method: 'POST', url: this.#gatewayUrl + path, json, hasIdempotencyKey: true }
  }
}
