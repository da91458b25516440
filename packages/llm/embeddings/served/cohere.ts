import {
  choiceAt,
  invalid,
  listAt,
  objectAt,
  optionalChoice,
  optionalNumber,
  set,
  textAt,
} from '../../formats/shared/reading/read-fields.ts'
import { toPassThroughFindings } from '../../formats/shared/requests/findings.ts'
import { listUnknownFields } from '../../formats/shared/requests/list-unknown-fields.ts'
import type { Json, JsonObject } from '../../json/json-value.ts'
import { isObject } from '../../json/json-value.ts'
import { toTable } from '../../json/to-table.ts'
import { inputTokens } from '../../usage/usage-sums.ts'
import type { EmbeddingRequest } from '../embedding-format.ts'
import type { EmbeddingServer } from '../embedding-server.ts'
import { encodeBody, encodeVectors } from '../encode-reply.ts'
import {
  assertCount,
  DIMENSIONS,
  type MutableEmbedding,
  type ParsedEmbeddings,
  parseTexts,
} from '../parse-request.ts'

const KNOWN: ReadonlySet<string> = new Set([
  'model',
  'texts',
  'inputs',
  'input_type',
  'embedding_types',
  'output_dimension',
  'truncate',
  'end_user',
])
const INPUT_TYPES: Readonly<Record<string, string>> = toTable({
  search_query: 'query',
  search_document: 'document',
})
const ENCODINGS = ['float', 'base64'] as const
const CUTS = { NONE: 'none', START: 'start', END: 'end' } as const

/** `{cohere prefix}/v2/embed`. Vectors are numbers or base64; the types of smaller numbers are Cohere's own. */
export const cohereEmbed: EmbeddingServer = {
  parse(body, { isEndUser }): ParsedEmbeddings {
    const unknownFields = listUnknownFields(body, KNOWN)
    const model = textAt(body.model, 'model')
    if (model === '') throw invalid('model', 'must not be empty.')
    const request: MutableEmbedding = { model, input: readTexts(body), encoding: readEncoding(body) }
    const inputType = textAt(body.input_type, 'input_type')
    request.inputType = INPUT_TYPES[inputType] ?? inputType
    set(request, 'dimensions', optionalNumber(body, 'output_dimension', DIMENSIONS))
    const cut = optionalChoice(body, 'truncate', ['NONE', 'START', 'END'])
    // A text is cut at its end unless the caller says otherwise.
    if (cut !== undefined) request.truncate = CUTS[cut]
    return {
      request,
      endUser: body.end_user,
      findings: toPassThroughFindings(unknownFields, isEndUser),
      unknownFields,
    }
  },
  *encodeReply({ requestId }, { encoding, input }, { vectors }, { usage }) {
    const encoded = yield* encodeVectors(vectors, encoding)
    return encodeBody({ id: requestId }, 'embeddings', [encodeBody({}, encoding, encoded, {})], {
      texts: input,
      meta: { api_version: { version: '2' }, billed_units: { input_tokens: inputTokens(usage) } },
      response_type: 'embeddings_by_type',
    })
  },
}

/** One encoding is answered; clients name a single one. */
function readEncoding({ embedding_types: types }: JsonObject): EmbeddingRequest['encoding'] {
  if (types === undefined || types === null) return 'float'
  const named = listAt(types, 'embedding_types')
  if (named.length !== 1) throw invalid('embedding_types', 'must have one entry: float or base64.')
  return choiceAt(named[0], 'embedding_types[0]', ENCODINGS)
}

/** `texts`, or `inputs` of text alone. */
function readTexts({ texts, inputs }: JsonObject): readonly string[] {
  if (inputs === undefined || inputs === null) return parseTexts(texts, 'texts')
  if (texts !== undefined && texts !== null) throw invalid('inputs', 'must not be sent beside texts.')
  const list = listAt(inputs, 'inputs')
  assertCount(list.length, 'inputs')
  return list.map((item, at) => {
    const path = `inputs[${at}].content`
    const content = listAt(objectAt(item, `inputs[${at}]`).content, path)
    if (content.length === 0) throw invalid(path, 'must have at least one entry.')
    return content.map((part, index) => readPart(part, `${path}[${index}]`)).join('\n')
  })
}

function readPart(part: Json, path: string): string {
  if (!isObject(part) || part.type !== 'text') throw invalid(path, 'must be text.')
  return textAt(part.text, `${path}.text`)
}
