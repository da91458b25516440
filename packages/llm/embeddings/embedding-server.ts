import type { JsonObject } from '../json/json-value.ts'
import type { Bill } from '../usage/bill.ts'
import { toUsd } from '../usage/money.ts'
import { inputTokens } from '../usage/usage-sums.ts'
import type { EmbeddingReply, EmbeddingRequest } from './embedding-format.ts'
import { encodeBody, encodeVectors } from './encode-reply.ts'
import { type ParsedEmbeddings, parseCompatEmbedding, parseNativeEmbedding } from './parse-request.ts'

/** What a reply says of the request and of the target that answered it. */
export interface EmbeddingReplyContext {
  /** `provider/model` of the target that answered. */
  readonly model: string
  readonly provider: string
  readonly isSandbox: boolean
  readonly requestId: string
  /** Milliseconds since the request arrived. */
  readonly elapsedMs: number
}

/** What a parser gets besides the body. */
export interface EmbeddingContext {
  /** The model where the format names it in the path, else empty. */
  readonly pathModel: string
  /** The request came with a client token. */
  readonly isEndUser: boolean
}

/** A format that callers ask for embeddings in. */
export interface EmbeddingServer {
  /** Throws RequestError. */
  parse(body: JsonObject, context: EmbeddingContext): ParsedEmbeddings
  /** Returns the body. Yields after each piece of the work. */
  encodeReply(
    context: EmbeddingReplyContext,
    request: EmbeddingRequest,
    reply: EmbeddingReply,
    bill: Bill,
  ): Generator<void, Buffer>
}

export const nativeEmbeddings: EmbeddingServer = {
  parse: parseNativeEmbedding,
  *encodeReply({ model, provider, isSandbox }, request, reply, bill) {
    const tokens = inputTokens(bill.usage)
    const usage = { input_tokens: tokens, total_tokens: tokens, ...(isSandbox ? { sandbox: true } : {}) }
    const data = yield* encodeData(request, reply)
    const cost_usd = toUsd(bill.costNanoUsd)
    return encodeBody({ object: 'list', model, provider }, 'data', data, { usage, cost_usd })
  },
}

/** OpenAI's own shape. Its official clients ask for base64 unless told otherwise, and decode it themselves. */
export const compatEmbeddings: EmbeddingServer = {
  parse: (body, { isEndUser }) => parseCompatEmbedding(body, isEndUser),
  *encodeReply({ model, requestId }, request, reply, bill) {
    const tokens = inputTokens(bill.usage)
    const data = yield* encodeData(request, reply)
    const usage = { prompt_tokens: tokens, total_tokens: tokens }
    // Mistral's clients refuse an answer without an id.
    return encodeBody({ id: requestId, object: 'list' }, 'data', data, { model, usage })
  },
}

function encodeData({ encoding }: EmbeddingRequest, { vectors }: EmbeddingReply): Generator<void, Buffer[]> {
  return encodeVectors(vectors, encoding, index => [
    `{"object":"embedding","index":${index},"embedding":`,
    '}',
  ])
}
