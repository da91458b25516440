import {
  choiceAt,
  listAt,
  optionalFlag,
  optionalNumber,
  set,
  textAt,
} from '../../formats/shared/reading/read-fields.ts'
import { toPassThroughFindings } from '../../formats/shared/requests/findings.ts'
import { listUnknownFields } from '../../formats/shared/requests/list-unknown-fields.ts'
import type { JsonObject } from '../../json/json-value.ts'
import { inputTokens } from '../../usage/usage-sums.ts'
import type { EmbeddingServer } from '../embedding-server.ts'
import { encodeBody } from '../encode-reply.ts'
import { DIMENSIONS, type MutableEmbedding } from '../parse-request.ts'
import { encodeVector } from '../vector-encoding.ts'

const KNOWN: ReadonlySet<string> = new Set(['inputText', 'dimensions', 'normalize', 'embeddingTypes'])

/** `{bedrock prefix}/model/{model}/invoke` with a body of Amazon's Titan: one text, one vector. */
export const titanEmbeddings: EmbeddingServer = {
  parse(body, { pathModel, isEndUser }) {
    const unknownFields = listUnknownFields(body, KNOWN)
    const request: MutableEmbedding = {
      model: pathModel,
      input: [textAt(body.inputText, 'inputText')],
      encoding: 'float',
    }
    set(request, 'dimensions', optionalNumber(body, 'dimensions', DIMENSIONS))
    // Vectors have the length 1 unless the caller says otherwise, which no other provider knows.
    if (optionalFlag(body, 'normalize') === false) unknownFields.push('normalize')
    assertFloats(body)
    return {
      request,
      endUser: undefined,
      findings: toPassThroughFindings(unknownFields, isEndUser),
      unknownFields,
    }
  },
  *encodeReply(_context, _request, { vectors }, { usage }) {
    const embedding = yield* encodeVector(vectors[0] ?? [], 'float')
    const byType = [
      ...embedding,
      Buffer.from(',"embeddingsByType":{"float":'),
      ...embedding,
      Buffer.from('}'),
    ]
    return encodeBody({}, 'embedding', byType, { inputTextTokenCount: inputTokens(usage) })
  },
}

function assertFloats({ embeddingTypes: types }: JsonObject): void {
  if (types === undefined || types === null) return
  for (const [at, type] of listAt(types, 'embeddingTypes').entries()) {
    choiceAt(type, `embeddingTypes[${at}]`, ['float'])
  }
}
