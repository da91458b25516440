import type { JsonObject } from '../json/json-value.ts'
import { toObject } from '../json/json-value.ts'
import { toSentJson } from '../json/unwritten-json.ts'
import { joinAddress } from '../upstream/join-address.ts'
import { JSON_HEADERS } from '../upstream/json-headers.ts'
import { parseWholeCount } from '../usage/token-count.ts'
import { toCohereInputType } from './bedrock.ts'
import { type EmbeddingFormat, toVectors } from './embedding-format.ts'
import { COHERE_RULES } from './embedding-rules.ts'

/** Cohere's `POST /v2/embed`. What is billed is in `billed_units`. */
export const cohereEmbeddings: EmbeddingFormat = {
  maxInputs: () => 96,
  cutsStart: true,
  encodeRequest(request, { model, baseUrl }) {
    const body: JsonObject = {
      model,
      texts: [...(request.input as readonly string[])],
      input_type: toCohereInputType(request.inputType),
      embedding_types: ['float'],
    }
    if (request.dimensions !== undefined) body.output_dimension = request.dimensions
    if (request.truncate !== undefined) body.truncate = request.truncate.toUpperCase()
    return {
      ...joinAddress(baseUrl, '/embed'),
      headers: { ...JSON_HEADERS },
      body: toSentJson(body),
      content: { rules: COHERE_RULES, value: body },
    }
  },
  decodeReply(body) {
    const floats = toObject(body.embeddings)?.float ?? body.embeddings
    const vectors = Array.isArray(floats) ? toVectors(floats) : undefined
    if (vectors === undefined) return undefined
    const billed = toObject(toObject(body.meta)?.billed_units)
    return { vectors, inputTokens: parseWholeCount(billed?.input_tokens) }
  },
}
