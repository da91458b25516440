import type { JsonObject } from '../json/json-value.ts'
import { toObject } from '../json/json-value.ts'
import { joinAddress } from '../upstream/join-address.ts'
import { JSON_HEADERS } from '../upstream/json-headers.ts'
import { findWholeCount } from '../usage/token-count.ts'
import { decodeResults, toBody } from './decode-results.ts'
import type { RerankFormat } from './rerank-format.ts'
import { COHERE_RULES } from './rerank-rules.ts'

/** Cohere's `POST /v2/rerank`. It sells searches. */
export const cohereRerank: RerankFormat = {
  cutsDocuments: true,
  encodeRequest(request, { model, baseUrl }) {
    const { query, documents, topN, maxTokensPerDocument } = request
    const value: JsonObject = { model, query, documents: [...documents] }
    if (topN !== undefined) value.top_n = topN
    if (maxTokensPerDocument !== undefined) value.max_tokens_per_doc = maxTokensPerDocument
    return {
      ...joinAddress(baseUrl, '/rerank'),
      headers: { ...JSON_HEADERS },
      body: toBody(value),
      content: { rules: COHERE_RULES, value },
    }
  },
  decodeReply({ results: list, meta }) {
    const results = decodeResults(list, 'relevance_score')
    if (results === undefined) return undefined
    const billed = toObject(toObject(meta)?.billed_units)
    return { results, usage: { searches: findWholeCount(billed?.search_units), inputTokens: undefined } }
  },
}
