import type { JsonObject } from '../json/json-value.ts'
import { toSentJson } from '../json/unwritten-json.ts'
import { joinAddress } from '../upstream/join-address.ts'
import { JSON_HEADERS } from '../upstream/json-headers.ts'
import { parseWholeCount } from '../usage/token-count.ts'
import { type EmbeddingFormat, toVectors } from './embedding-format.ts'
import { OLLAMA_RULES } from './embedding-rules.ts'

/** Ollama's `POST /api/embed`. */
export const ollamaEmbeddings: EmbeddingFormat = {
  maxInputs: () => 512,
  encodeRequest(request, { model, baseUrl }) {
    const body: JsonObject = { model, input: [...(request.input as readonly string[])] }
    if (request.dimensions !== undefined) body.dimensions = request.dimensions
    if (request.truncate === 'none') body.truncate = false
    return {
      // A credential's address may be that of its OpenAI-format routes, which lie beside.
      ...joinAddress(baseUrl.replace(/\/(?:v1|api)$/, ''), '/api/embed'),
      headers: { ...JSON_HEADERS },
      body: toSentJson(body),
      content: { rules: OLLAMA_RULES, value: body },
    }
  },
  decodeReply(body) {
    const vectors = Array.isArray(body.embeddings) ? toVectors(body.embeddings) : undefined
    return vectors === undefined
      ? undefined
      : { vectors, inputTokens: parseWholeCount(body.prompt_eval_count) }
  },
}
