import type { JsonObject } from '../json/json-value.ts'
import { toObject } from '../json/json-value.ts'
import { joinAddress } from '../upstream/join-address.ts'
import { JSON_HEADERS } from '../upstream/json-headers.ts'
import { findWholeCount } from '../usage/token-count.ts'
import { decodeResults, toBody } from './decode-results.ts'
import type { RerankFormat } from './rerank-format.ts'
import { VOYAGE_RULES } from './rerank-rules.ts'

/** Voyage's `POST /v1/rerank`. It sells tokens. */
export const voyageRerank: RerankFormat = {
  encodeRequest({ query, documents, topN }, { model, baseUrl }) {
    const value: JsonObject = { model, query, documents: [...documents] }
    if (topN !== undefined) value.top_k = topN
    return {
      ...joinAddress(baseUrl, '/rerank'),
      headers: { ...JSON_HEADERS },
      body: toBody(value),
      content: { rules: VOYAGE_RULES, value },
    }
  },
  decodeReply({ data, usage }) {
    const results = decodeResults(data, 'relevance_score')
    if (results === undefined) return undefined
    return {
      results,
      usage: { searches: undefined, inputTokens: findWholeCount(toObject(usage)?.total_tokens) },
    }
  },
}
