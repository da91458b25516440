import { assertSameModel, spell } from '../../formats/gemini-content/server/read-body.ts'
import {
  invalid,
  listAt,
  objectAt,
  optionalNumber,
  optionalText,
  set,
  textAt,
} from '../../formats/shared/reading/read-fields.ts'
import { toPassThroughFindings } from '../../formats/shared/requests/findings.ts'
import { listUnknownFields } from '../../formats/shared/requests/list-unknown-fields.ts'
import type { Json, JsonObject } from '../../json/json-value.ts'
import { toTable } from '../../json/to-table.ts'
import { inputTokens } from '../../usage/usage-sums.ts'
import type { EmbeddingContext, EmbeddingServer } from '../embedding-server.ts'
import { encodeBody, encodeVectors } from '../encode-reply.ts'
import { assertCount, DIMENSIONS, type MutableEmbedding, type ParsedEmbeddings } from '../parse-request.ts'
import { encodeVector } from '../vector-encoding.ts'

/** What texts are for, in the words that other formats share. Google's other words are sent as they are. */
const INPUT_TYPES: Readonly<Record<string, string>> = toTable({
  RETRIEVAL_QUERY: 'query',
  RETRIEVAL_DOCUMENT: 'document',
  CLASSIFICATION: 'classification',
  CLUSTERING: 'clustering',
})

const SETTINGS = ['taskType', 'title', 'outputDimensionality'] as const
const ONE: ReadonlySet<string> = new Set(['model', 'content', 'endUser', ...SETTINGS])
const MANY: ReadonlySet<string> = new Set(['requests', 'endUser'])
const EACH: ReadonlySet<string> = new Set(['model', 'content', ...SETTINGS])
const CONTENT: ReadonlySet<string> = new Set(['role', 'parts'])
const PART: ReadonlySet<string> = new Set(['text'])

/** `{gemini prefix}/v1beta/models/{model}:embedContent`: one content, one vector. */
export const geminiEmbedContent: EmbeddingServer = {
  parse(given, context) {
    const body = spell(given)
    const unknownFields = listUnknownFields(body, ONE)
    return toParsed(body, [readContent(body, context, '', unknownFields)], body, unknownFields, context)
  },
  *encodeReply(_context, _request, { vectors }) {
    const values = yield* encodeVector(vectors[0] ?? [], 'float')
    return encodeBody({}, 'embedding', [encodeBody({}, 'values', values, {})], {})
  },
}

/** `:batchEmbedContents`: a list of such requests, which go to the provider as one. */
export const geminiBatchEmbed: EmbeddingServer = {
  parse(given, context) {
    const body = spell(given)
    const unknownFields = listUnknownFields(body, MANY)
    const requests = listAt(body.requests, 'requests')
    assertCount(requests.length, 'requests')
    const first = objectAt(requests[0], 'requests[0]')
    const texts = requests.map((value, at) => {
      const path = `requests[${at}]`
      const request = objectAt(value, path)
      unknownFields.push(...listUnknownFields(request, EACH, path))
      assertSameSettings(request, first, path)
      return readContent(request, context, `${path}.`, unknownFields)
    })
    return toParsed(body, texts, first, unknownFields, context)
  },
  *encodeReply(_context, _request, { vectors }, { usage }) {
    const embeddings = yield* encodeVectors(vectors, 'float', () => ['{"values":', '}'])
    return encodeBody({}, 'embeddings', embeddings, {
      usageMetadata: { promptTokenCount: inputTokens(usage) },
    })
  },
}

function toParsed(
  body: JsonObject,
  input: readonly string[],
  settings: JsonObject,
  unknownFields: readonly string[],
  { pathModel, isEndUser }: EmbeddingContext,
): ParsedEmbeddings {
  const request: MutableEmbedding = { model: pathModel, input, encoding: 'float' }
  const task = optionalText(settings, 'taskType')
  if (task !== undefined && task !== 'TASK_TYPE_UNSPECIFIED') request.inputType = INPUT_TYPES[task] ?? task
  set(request, 'title', optionalText(settings, 'title'))
  set(request, 'dimensions', optionalNumber(settings, 'outputDimensionality', DIMENSIONS))
  return {
    request,
    endUser: body.endUser,
    findings: toPassThroughFindings(unknownFields, isEndUser),
    unknownFields,
  }
}

/** Returns the text of a content. `path`: of the object that has it, with a dot at its end. */
function readContent(
  request: JsonObject,
  context: EmbeddingContext,
  path: string,
  unknownFields: string[],
): string {
  assertSameModel(request, context.pathModel, path)
  const at = `${path}content`
  const content = objectAt(request.content, at)
  unknownFields.push(...listUnknownFields(content, CONTENT, at))
  optionalText(content, 'role', `${at}.role`)
  const parts = listAt(content.parts, `${at}.parts`)
  if (parts.length === 0) throw invalid(`${at}.parts`, 'must have at least one entry.')
  return parts.map((part, index) => readPart(part, `${at}.parts[${index}]`)).join('\n')
}

function readPart(part: Json, path: string): string {
  const object = objectAt(part, path)
  for (const name in object) {
    if (!PART.has(name) && object[name] !== null) throw invalid(path, 'must be text.')
  }
  return textAt(object.text, `${path}.text`)
}

/** One call to a provider has one setting for all of its texts. */
function assertSameSettings(request: JsonObject, first: JsonObject, path: string): void {
  for (const name of SETTINGS) {
    if ((request[name] ?? null) !== (first[name] ?? null)) {
      throw invalid(`${path}.${name}`, 'must be the same in every request.')
    }
  }
}
