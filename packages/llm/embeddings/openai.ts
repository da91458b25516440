import type { JsonObject } from '../json/json-value.ts'
import { toObject, toObjects, toText } from '../json/json-value.ts'
import { toTable } from '../json/to-table.ts'
import { toSentJson } from '../json/unwritten-json.ts'
import type { OpenAiEmbeddingDeviations } from '../provider/embedding-service.ts'
import { JSON_HEADERS } from '../upstream/json-headers.ts'
import { toAddress, toWireModel } from '../upstream/openai-address.ts'
import type { Target } from '../upstream/target.ts'
import { readReportedCost } from '../usage/reported-cost.ts'
import { parseWholeCount } from '../usage/token-count.ts'
import {
  type EmbeddingFormat,
  type EmbeddingRequest,
  toLarger,
  toNumbers,
  type Vector,
} from './embedding-format.ts'
import { OPENAI_RULES } from './embedding-rules.ts'
import { fromInt8 } from './vector-encoding.ts'

/** OpenAI's limit on one request. */
const MAX_INPUTS = 2048

/** `POST /embeddings` in OpenAI's format, with every provider's deviations. */
export const openAiEmbeddings: EmbeddingFormat = {
  maxInputs: () => MAX_INPUTS,
  takesTokens: true,
  encodeRequest(request, target) {
    const { path = '/embeddings' } = deviationsOf(target)
    const body = encodeBody(request, target)
    return {
      ...toAddress(target, path),
      headers: { ...JSON_HEADERS },
      body: toSentJson(body),
      content: { rules: OPENAI_RULES, value: body },
    }
  },
  decodeReply(body, _headers, target) {
    const { answers } = deviationsOf(target)
    const entries = toObjects(body.data)
    const vectors: Vector[] = []
    for (const [position, entry] of entries.entries()) {
      const vector = toText(entry.embedding) ?? toNumbers(entry.embedding)
      if (vector === undefined) return undefined
      const index = parseWholeCount(entry.index) ?? position
      vectors[index] = typeof vector === 'string' && answers === 'int8' ? fromInt8(vector) : vector
    }
    // Each place once: two that claim one leave a gap.
    if (vectors.length === 0 || entries.some((_, at) => vectors[at] === undefined)) return undefined
    if (vectors.length !== entries.length) return undefined
    const usage = toObject(body.usage)
    const cost = readReportedCost(usage, target)
    return {
      vectors,
      inputTokens: toLarger(parseWholeCount(usage?.prompt_tokens), parseWholeCount(usage?.total_tokens)),
      ...(cost === undefined ? {} : { costNanoUsd: cost }),
    }
  },
}

function deviationsOf({ provider }: Target): OpenAiEmbeddingDeviations {
  return provider.embeddings?.openai ?? {}
}

function encodeBody(request: EmbeddingRequest, target: Target): JsonObject {
  const deviations = deviationsOf(target)
  const { inputTypes } = deviations
  const body = toTable<JsonObject>({
    model: toWireModel(target),
    input: request.input as JsonObject[string],
  })
  if (request.dimensions !== undefined) body[deviations.dimensions ?? 'dimensions'] = request.dimensions
  const isOmitted =
    deviations.refusesEncoding === true || (deviations.refusesFloat === true && request.encoding === 'float')
  if (!isOmitted) body.encoding_format = request.encoding
  if (inputTypes !== undefined) {
    const { inputType } = request
    const theirs = inputType === 'query' || inputType === 'document' ? inputTypes[inputType] : inputType
    const sent = theirs ?? (inputTypes.isRequired === true ? inputTypes.document : undefined)
    if (sent !== undefined) body.input_type = sent
  }
  if (request.user !== undefined && deviations.refusesUser !== true) body.user = request.user
  return request.rest === undefined ? body : { ...request.rest, ...body }
}
