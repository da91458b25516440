import type { JsonObject } from '../json/json-value.ts'
import { toObject, toObjects } from '../json/json-value.ts'
import { toTable } from '../json/to-table.ts'
import { toSentJson } from '../json/unwritten-json.ts'
import { joinAddress } from '../upstream/join-address.ts'
import { JSON_HEADERS } from '../upstream/json-headers.ts'
import { parseWholeCount } from '../usage/token-count.ts'
import { type EmbeddingFormat, toVectors } from './embedding-format.ts'
import { GEMINI_RULES } from './embedding-rules.ts'

/** Gemini's words for what the texts are for; others are sent as they are. */
const TASK_TYPES: Readonly<Record<string, string>> = toTable({
  query: 'RETRIEVAL_QUERY',
  document: 'RETRIEVAL_DOCUMENT',
  classification: 'CLASSIFICATION',
  clustering: 'CLUSTERING',
})

export function toTaskType(inputType: string | undefined): string | undefined {
  return inputType === undefined ? undefined : (TASK_TYPES[inputType] ?? inputType)
}

/** AI Studio's `:batchEmbedContents`. Its older models name no usage. */
export const geminiEmbeddings: EmbeddingFormat = {
  maxInputs: () => 100,
  takesTitle: true,
  encodeRequest(request, { model, baseUrl }) {
    const taskType = toTaskType(request.inputType)
    const requests = (request.input as readonly string[]).map(text => {
      const one: JsonObject = { model: `models/${model}`, content: { parts: [{ text }] } }
      if (taskType !== undefined) one.taskType = taskType
      if (request.title !== undefined) one.title = request.title
      if (request.dimensions !== undefined) one.outputDimensionality = request.dimensions
      return one
    })
    const body: JsonObject = { requests }
    return {
      ...joinAddress(baseUrl, `/models/${encodeURIComponent(model)}:batchEmbedContents`),
      headers: { ...JSON_HEADERS },
      body: toSentJson(body),
      content: { rules: GEMINI_RULES, value: body },
    }
  },
  decodeReply(body) {
    const vectors = toVectors(toObjects(body.embeddings).map(embedding => embedding.values))
    if (vectors === undefined) return undefined
    return { vectors, inputTokens: parseWholeCount(toObject(body.usageMetadata)?.promptTokenCount) }
  },
}
