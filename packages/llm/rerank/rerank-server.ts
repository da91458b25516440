import type { JsonObject } from '../json/json-value.ts'
import type { Bill } from '../usage/bill.ts'
import { toUsd } from '../usage/money.ts'
import { inputTokens } from '../usage/usage-sums.ts'
import { type ParsedRerank, parseLenientRerank, parseNativeRerank } from './parse-request.ts'
import type { RerankReply, RerankRequest } from './rerank-format.ts'

/** What a reply says of the request, of the target that answered it, and of what it used. */
export interface RerankReplyContext {
  /** `provider/model` of the target that answered. */
  readonly model: string
  readonly provider: string
  readonly isSandbox: boolean
  readonly requestId: string
  /** null: the target sells no searches. */
  readonly searches: number | null
}

/** A format in which callers ask for documents to be ordered. */
export interface RerankServer {
  /** Throws RequestError. */
  parse(body: JsonObject, isEndUser: boolean): ParsedRerank
  encodeReply(context: RerankReplyContext, request: RerankRequest, reply: RerankReply, bill: Bill): JsonObject
}

export const nativeRerank: RerankServer = {
  parse: parseNativeRerank,
  encodeReply({ model, provider, isSandbox, requestId, searches }, request, reply, bill) {
    const tokens = inputTokens(bill.usage)
    return {
      id: requestId,
      object: 'rerank',
      model,
      provider,
      results: toResults(request, reply),
      usage: {
        input_tokens: tokens,
        total_tokens: tokens,
        search_units: searches,
        ...(isSandbox ? { sandbox: true } : {}),
      },
      cost_usd: toUsd(bill.costNanoUsd),
    }
  },
}

/** The shape of Jina and Together, with Cohere's `meta` beside it, so that clients of each read it. */
export const compatRerank: RerankServer = {
  parse: parseLenientRerank,
  encodeReply({ model, requestId, searches }, request, reply, bill) {
    const tokens = inputTokens(bill.usage)
    return {
      id: requestId,
      object: 'rerank',
      model,
      results: toResults(request, reply),
      usage: { prompt_tokens: tokens, total_tokens: tokens },
      meta: toMeta('2', searches, tokens),
    }
  },
}

/** `{cohere prefix}/v2/rerank`, and `/v1/rerank`, which can return the documents. */
export function cohereRerankServer(version: '1' | '2'): RerankServer {
  return {
    parse: parseLenientRerank,
    encodeReply: ({ requestId, searches }, request, reply, bill) => ({
      id: requestId,
      results: toResults(request, reply),
      meta: toMeta(version, searches, inputTokens(bill.usage)),
    }),
  }
}

/** One of the units is billed. */
function toMeta(version: string, searches: number | null, tokens: number): JsonObject {
  const billed = searches === null ? { input_tokens: tokens } : { search_units: searches }
  return { api_version: { version }, billed_units: billed }
}

function toResults({ documents, returnsDocuments }: RerankRequest, { results }: RerankReply): JsonObject[] {
  return results.map(({ index, score }) => ({
    index,
    relevance_score: score,
    ...(returnsDocuments ? { document: { text: documents[index] ?? '' } } : {}),
  }))
}
