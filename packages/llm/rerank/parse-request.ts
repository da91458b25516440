import {
  assertKnownFields,
  invalid,
  listAt,
  optionalFlag,
  optionalNumber,
  optionalText,
  set,
  textAt,
} from '../formats/shared/reading/read-fields.ts'
import type { Findings } from '../formats/shared/requests/findings.ts'
import { toPassThroughFindings } from '../formats/shared/requests/findings.ts'
import { listUnknownFields } from '../formats/shared/requests/list-unknown-fields.ts'
import type { Json, JsonObject } from '../json/json-value.ts'
import { isObject } from '../json/json-value.ts'
import { MAX_DOCUMENTS, type RerankRequest } from './rerank-format.ts'

/** A rerank body, read once. */
export interface ParsedRerank {
  readonly request: RerankRequest
  /** The end user that a secret key's body names, not yet checked (name-end-user.ts). */
  readonly endUser: Json | undefined
  readonly findings: Pick<Findings, 'stored' | 'passedOn'>
  /** Fields that no provider gets. */
  readonly unknownFields: readonly string[]
}

const COMMON = ['model', 'query', 'documents', 'top_n', 'return_documents', 'max_tokens_per_doc', 'end_user']
const NATIVE: ReadonlySet<string> = new Set(COMMON)
/** The known fields, including the words of other formats. */
const LENIENT: ReadonlySet<string> = new Set([...COMMON, 'top_k', 'truncation', 'user'])
const COUNT = { min: 1, integer: true }

/** `POST /v1/rerank`: fields that it does not know are refused. */
export function parseNativeRerank(body: JsonObject): ParsedRerank {
  assertKnownFields(body, NATIVE)
  return { ...parse(body, []), endUser: optionalText(body, 'end_user') }
}

/** Parses a rerank body under other prefixes, in the words of Cohere, Jina and Voyage. */
export function parseLenientRerank(body: JsonObject, isEndUser: boolean): ParsedRerank {
  const unknownFields = listUnknownFields(body, LENIENT)
  // Whether a text that is too long is cut, as every provider does unless told otherwise.
  optionalFlag(body, 'truncation')
  const parsed = parse(body, unknownFields)
  return { ...parsed, findings: toPassThroughFindings(unknownFields, isEndUser) }
}

function parse(body: JsonObject, unknownFields: readonly string[]): ParsedRerank {
  const model = textAt(body.model, 'model')
  if (model === '') throw invalid('model', 'must not be empty.')
  const query = textAt(body.query, 'query')
  if (query === '') throw invalid('query', 'must not be empty.')
  const documents = parseDocuments(body.documents)
  const request: { -readonly [K in keyof RerankRequest]: RerankRequest[K] } = {
    model,
    query,
    documents,
    returnsDocuments: optionalFlag(body, 'return_documents') ?? false,
  }
  const topN = optionalNumber(body, 'top_n', COUNT) ?? optionalNumber(body, 'top_k', COUNT)
  if (topN !== undefined) request.topN = Math.min(topN, documents.length)
  set(request, 'maxTokensPerDocument', optionalNumber(body, 'max_tokens_per_doc', COUNT))
  const findings = { stored: undefined, passedOn: undefined }
  return { request, endUser: body.end_user, findings, unknownFields }
}

/** Texts, or objects with a text. */
function parseDocuments(value: Json | undefined): readonly string[] {
  const documents = listAt(value, 'documents')
  if (documents.length < 1 || documents.length > MAX_DOCUMENTS) {
    throw invalid('documents', `must have 1 to ${MAX_DOCUMENTS} entries.`)
  }
  return documents.map((document, at) =>
    isObject(document)
      ? textAt(document.text, `documents[${at}].text`)
      : textAt(document, `documents[${at}]`),
  )
}
