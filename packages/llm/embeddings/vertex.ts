import type { JsonObject } from '../json/json-value.ts'
import { toObject, toObjects } from '../json/json-value.ts'
import { toSentJson } from '../json/unwritten-json.ts'
import { joinAddress } from '../upstream/join-address.ts'
import { JSON_HEADERS } from '../upstream/json-headers.ts'
import type { Target } from '../upstream/target.ts'
import type { EncodedRequest } from '../upstream/upstream-request.ts'
import { parseWholeCount } from '../usage/token-count.ts'
import {
  type EmbeddingFormat,
  type EmbeddingReply,
  type EmbeddingRequest,
  toVectors,
} from './embedding-format.ts'
import { VERTEX_RULES } from './embedding-rules.ts'
import { toTaskType } from './gemini.ts'

/** The newest take one content a call, by another method. */
const TAKES_ONE = /^gemini-embedding-(?!001)/
/** The most texts in a call to Google's own models: 250 texts and 20,000 tokens. `gemini-embedding-001` takes one. */
const MAX_INPUTS = 250

/** Vertex's `:predict`, and `:embedContent` for models that know only that. */
export const vertexEmbeddings: EmbeddingFormat = {
  maxInputs: model => (TAKES_ONE.test(model) || model === 'gemini-embedding-001' ? 1 : MAX_INPUTS),
  takesTitle: true,
  encodeRequest: (request, target) =>
    TAKES_ONE.test(target.model) ? encodeOne(request, target) : encodeMany(request, target),
  decodeReply: body => (body.predictions === undefined ? decodeOne(body) : decodeMany(body)),
}

function encodeMany(request: EmbeddingRequest, target: Target): EncodedRequest {
  const taskType = toTaskType(request.inputType)
  const { title } = request
  const instances = (request.input as readonly string[]).map(content => {
    const instance: JsonObject = { content }
    if (taskType !== undefined) instance.task_type = taskType
    if (title !== undefined) instance.title = title
    return instance
  })
  const body: JsonObject = { instances }
  if (request.dimensions !== undefined) body.parameters = { outputDimensionality: request.dimensions }
  return toRequest('predict', body, target)
}

function encodeOne(request: EmbeddingRequest, target: Target): EncodedRequest {
  const [text] = request.input as readonly string[]
  const body: JsonObject = { content: { parts: [{ text: text ?? '' }] } }
  const taskType = toTaskType(request.inputType)
  if (taskType !== undefined) body.taskType = taskType
  if (request.title !== undefined) body.title = request.title
  if (request.dimensions !== undefined) body.outputDimensionality = request.dimensions
  return toRequest('embedContent', body, target)
}

function toRequest(method: string, body: JsonObject, { provider, model, baseUrl }: Target): EncodedRequest {
  const path = `${provider.modelPath ?? '/models'}/${encodeURIComponent(model)}:${method}`
  return {
    ...joinAddress(baseUrl, path),
    headers: { ...JSON_HEADERS },
    body: toSentJson(body),
    content: { rules: VERTEX_RULES, value: body },
  }
}

function decodeMany(body: JsonObject): EmbeddingReply | undefined {
  const embeddings = toObjects(body.predictions).map(prediction => toObject(prediction.embeddings))
  const vectors = toVectors(embeddings.map(embedding => embedding?.values))
  if (vectors === undefined) return undefined
  const counts = embeddings.map(embedding => parseWholeCount(toObject(embedding?.statistics)?.token_count))
  const known = counts.filter(count => count !== undefined)
  const inputTokens =
    known.length === counts.length ? known.reduce((sum, count) => sum + count, 0) : undefined
  return { vectors, inputTokens }
}

function decodeOne(body: JsonObject): EmbeddingReply | undefined {
  const vectors = toVectors([toObject(body.embedding)?.values])
  if (vectors === undefined) return undefined
  return { vectors, inputTokens: parseWholeCount(toObject(body.usageMetadata)?.promptTokenCount) }
}
