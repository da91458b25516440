import {
  invalid,
  optionalFlag,
  optionalNumber,
  optionalObject,
  set,
  textAt,
} from '../../formats/shared/reading/read-fields.ts'
import { toPassThroughFindings } from '../../formats/shared/requests/findings.ts'
import { listUnknownFields } from '../../formats/shared/requests/list-unknown-fields.ts'
import type { Json, JsonObject } from '../../json/json-value.ts'
import { inputTokens } from '../../usage/usage-sums.ts'
import type { EmbeddingContext, EmbeddingServer } from '../embedding-server.ts'
import { encodeBody, encodeVectors } from '../encode-reply.ts'
import { DIMENSIONS, type MutableEmbedding, type ParsedEmbeddings, parseTexts } from '../parse-request.ts'
import { encodeVector } from '../vector-encoding.ts'

/** How Ollama's server runs a model has no meaning elsewhere: `options` and `keep_alive` are read and not sent. */
const RUN = ['model', 'options', 'keep_alive', 'end_user']
const EMBED: ReadonlySet<string> = new Set([...RUN, 'input', 'truncate', 'dimensions'])
const OLD: ReadonlySet<string> = new Set([...RUN, 'prompt'])
const NS_PER_MS = 1_000_000

/** `{ollama prefix}/api/embed`. */
export const ollamaEmbed: EmbeddingServer = {
  parse(body, context) {
    const input = isNothing(body.input) ? [] : parseTexts(body.input)
    const parsed = toParsed(body, input, listUnknownFields(body, EMBED), context)
    const request: MutableEmbedding = parsed.request
    if (optionalFlag(body, 'truncate') === false) request.truncate = 'none'
    set(request, 'dimensions', optionalNumber(body, 'dimensions', DIMENSIONS))
    return parsed
  },
  *encodeReply({ model, elapsedMs }, _request, { vectors }, { usage }) {
    const embeddings = yield* encodeVectors(vectors, 'float')
    return encodeBody({ model }, 'embeddings', embeddings, {
      total_duration: Math.round(elapsedMs * NS_PER_MS),
      load_duration: 0,
      prompt_eval_count: inputTokens(usage),
    })
  },
}

/** `{ollama prefix}/api/embeddings`, the older route of one text. */
export const ollamaEmbeddingsRoute: EmbeddingServer = {
  parse: (body, context) =>
    toParsed(body, [textAt(body.prompt, 'prompt')], listUnknownFields(body, OLD), context),
  *encodeReply(_context, _request, { vectors }) {
    return encodeBody({}, 'embedding', yield* encodeVector(vectors[0] ?? [], 'float'), {})
  },
}

/** An empty text or list has no vectors, which is no mistake in this format. */
function isNothing(input: Json | undefined): boolean {
  return input === '' || (Array.isArray(input) && input.length === 0)
}

function toParsed(
  body: JsonObject,
  input: readonly string[],
  unknownFields: readonly string[],
  { isEndUser }: EmbeddingContext,
): ParsedEmbeddings {
  const model = textAt(body.model, 'model')
  if (model === '') throw invalid('model', 'must not be empty.')
  optionalObject(body, 'options')
  return {
    request: { model, input, encoding: 'float' },
    endUser: body.end_user,
    findings: toPassThroughFindings(unknownFields, isEndUser),
    unknownFields,
  }
}
