import type { Json, JsonObject } from '../json/json-value.ts'
import { toText } from '../json/json-value.ts'
import { joinAddress } from '../upstream/join-address.ts'
import { JSON_HEADERS } from '../upstream/json-headers.ts'
import { decodeResults, toBody } from './decode-results.ts'
import type { RerankFormat } from './rerank-format.ts'
import { BEDROCK_RULES } from './rerank-rules.ts'

/** The service has a host of its own beside that of the models. */
const RUNTIME = '//bedrock-runtime.'
const AGENT_RUNTIME = '//bedrock-agent-runtime.'

/** Bedrock's `Rerank`. It sells searches, and reports none. */
export const bedrockRerank: RerankFormat = {
  encodeRequest({ query, documents, topN }, { model, baseUrl, options }) {
    const region = toText(options?.region) ?? ''
    const value: JsonObject = {
      queries: [{ type: 'TEXT', textQuery: { text: query } }],
      sources: documents.map(toSource),
      rerankingConfiguration: {
        type: 'BEDROCK_RERANKING_MODEL',
        bedrockRerankingConfiguration: {
          modelConfiguration: { modelArn: `arn:aws:bedrock:${region}::foundation-model/${model}` },
          numberOfResults: Math.min(topN ?? documents.length, documents.length),
        },
      },
    }
    return {
      ...joinAddress(baseUrl.replace(RUNTIME, AGENT_RUNTIME), '/rerank'),
      headers: { ...JSON_HEADERS },
      body: toBody(value),
      content: { rules: BEDROCK_RULES, value },
    }
  },
  decodeReply({ results: list }) {
    const results = decodeResults(list, 'relevanceScore')
    return results && { results, usage: { searches: undefined, inputTokens: undefined } }
  },
}

function toSource(text: string): Json {
  return { type: 'INLINE', inlineDocumentSource: { type: 'TEXT', textDocument: { text } } }
}
