import type { JsonObject } from '../json/json-value.ts'
import { toObject } from '../json/json-value.ts'
import { JSON_HEADERS } from '../upstream/json-headers.ts'
import { toAddress, toWireModel } from '../upstream/openai-address.ts'
import { findWholeCount } from '../usage/token-count.ts'
import { decodeResults, toBody } from './decode-results.ts'
import type { RerankFormat } from './rerank-format.ts'
import { JINA_RULES } from './rerank-rules.ts'

/** Jina's `POST /v1/rerank`, which Together, vLLM and other servers have too. Tokens or searches are reported. */
export const jinaRerank: RerankFormat = {
  encodeRequest({ query, documents, topN }, target) {
    // Without this the answer repeats the documents.
    const value: JsonObject = {
      model: toWireModel(target),
      query,
      documents: [...documents],
      return_documents: false,
    }
    if (topN !== undefined) value.top_n = topN
    return {
      ...toAddress(target, '/rerank'),
      headers: { ...JSON_HEADERS },
      body: toBody(value),
      content: { rules: JINA_RULES, value },
    }
  },
  decodeReply({ results: list, usage, meta }) {
    const results = decodeResults(list, 'relevance_score')
    if (results === undefined) return undefined
    const counted = toObject(usage)
    const billed = toObject(toObject(meta)?.billed_units)
    return {
      results,
      usage: {
        searches: findWholeCount(billed?.search_units),
        inputTokens: findWholeCount(counted?.total_tokens) ?? findWholeCount(counted?.prompt_tokens),
      },
    }
  },
}
