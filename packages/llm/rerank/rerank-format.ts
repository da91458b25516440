import type { JsonObject } from '../json/json-value.ts'
import type { Target } from '../upstream/target.ts'
import type { EncodedRequest } from '../upstream/upstream-request.ts'

/** The most documents that Cohere accepts. */
export const MAX_DOCUMENTS = 10_000

/** One request to order documents by how well they answer a query. */
export interface RerankRequest {
  /** The model's name in the request: `provider/model`, an alias or a bare name. */
  readonly model: string
  readonly query: string
  /** Never empty. */
  readonly documents: readonly string[]
  /** How many results the caller wants. undefined: all. */
  readonly topN?: number
  /** Where a document is cut, in tokens. */
  readonly maxTokensPerDocument?: number
  readonly returnsDocuments: boolean
}

export interface RerankResult {
  /** The position of the document in the request. */
  readonly index: number
  readonly score: number
}

/** What a provider reports. Each sells either searches or tokens. */
export interface RerankUsage {
  /** A search is a query with up to 100 pieces of documents. undefined: the provider reports none. */
  readonly searches: number | undefined
  readonly inputTokens: number | undefined
}

export interface RerankReply {
  /** The best first. */
  readonly results: readonly RerankResult[]
  readonly usage: RerankUsage
}

/** A wire format of rerank requests, as the gateway calls it. Pure. */
export interface RerankFormat {
  /** Cuts documents at a number of tokens that the caller names. */
  readonly cutsDocuments?: true
  encodeRequest(request: RerankRequest, target: Target): EncodedRequest
  /** undefined: the answer has no results. */
  decodeReply(body: JsonObject): RerankReply | undefined
}
