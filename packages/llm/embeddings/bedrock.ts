import type { JsonObject } from '../json/json-value.ts'
import { toObject, toObjects } from '../json/json-value.ts'
import { toSentJson } from '../json/unwritten-json.ts'
import { joinAddress } from '../upstream/join-address.ts'
import { JSON_HEADERS } from '../upstream/json-headers.ts'
import { parseWholeCount } from '../usage/token-count.ts'
import { type EmbeddingFormat, type EmbeddingRequest, toVectors } from './embedding-format.ts'
import { BEDROCK_RULES } from './embedding-rules.ts'

/** Each maker's models there have a body of their own; the name may begin with a region (`us.cohere.…`). */
const isCohere = (model: string): boolean => /(^|\.)cohere\./.test(model)
const isNova = (model: string): boolean => model.includes('nova')

/** `InvokeModel` for the embedding models of Amazon (Titan, Nova) and Cohere. */
export const bedrockEmbeddings: EmbeddingFormat = {
  maxInputs: model => (isCohere(model) ? 96 : 1),
  encodeRequest(request, { model, baseUrl }) {
    const body = encodeBody(request, model)
    return {
      ...joinAddress(baseUrl, `/model/${encodeURIComponent(model)}/invoke`),
      headers: { ...JSON_HEADERS },
      body: toSentJson(body),
      content: { rules: BEDROCK_RULES, value: body },
    }
  },
  decodeReply(body, headers) {
    const vectors = toVectors(listVectors(body))
    if (vectors === undefined) return undefined
    const inputTokens =
      parseWholeCount(headers['x-amzn-bedrock-input-token-count']) ??
      parseWholeCount(body.inputTextTokenCount)
    return { vectors, inputTokens }
  },
}

function encodeBody(request: EmbeddingRequest, model: string): JsonObject {
  const texts = request.input as readonly string[]
  const { dimensions, inputType } = request
  if (isCohere(model)) {
    const body: JsonObject = { texts: [...texts], input_type: toCohereInputType(inputType) }
    if (dimensions !== undefined) body.output_dimension = dimensions
    if (request.truncate !== undefined) body.truncate = request.truncate.toUpperCase()
    return body
  }
  const text = texts[0] ?? ''
  if (isNova(model)) {
    const purpose = inputType === 'query' ? 'GENERIC_RETRIEVAL' : 'GENERIC_INDEX'
    const params: JsonObject = {
      embeddingPurpose: inputType === undefined || /^(query|document)$/.test(inputType) ? purpose : inputType,
      text: { value: text, truncationMode: 'NONE' },
    }
    if (dimensions !== undefined) params.embeddingDimension = dimensions
    return { taskType: 'SINGLE_EMBEDDING', singleEmbeddingParams: params }
  }
  return dimensions === undefined ? { inputText: text } : { inputText: text, dimensions }
}

/** Cohere wants to know what the texts are for; documents are the common case. */
export function toCohereInputType(inputType: string | undefined): string {
  if (inputType === undefined || inputType === 'document') return 'search_document'
  return inputType === 'query' ? 'search_query' : inputType
}

function listVectors(body: JsonObject): readonly unknown[] {
  if (body.embedding !== undefined) return [body.embedding]
  const byType = toObject(body.embeddings)
  if (byType !== undefined) return Array.isArray(byType.float) ? byType.float : []
  const objects = toObjects(body.embeddings)
  if (objects.length > 0) return objects.map(object => object.embedding)
  return Array.isArray(body.embeddings) ? body.embeddings : []
}
