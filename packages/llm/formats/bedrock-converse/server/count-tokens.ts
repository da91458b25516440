import { assertKnownFields, invalid, objectAt, textAt } from '../../shared/reading/read-fields.ts'
import type { CountFormat, OpenBody } from '../../shared/server-format.ts'
import { openCounted } from './open-invoke.ts'
import { parseRequest } from './parse-request.ts'
import { converseServer } from './server.ts'

const BODY: ReadonlySet<string> = new Set(['input'])
const INPUT: ReadonlySet<string> = new Set(['converse', 'invokeModel'])
const INVOKE: ReadonlySet<string> = new Set(['body'])
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

/** `{bedrock prefix}/model/{model}/count-tokens`: a request of Converse, or of InvokeModel as base64. */
export const converseCount: CountFormat = {
  server: converseServer,
  open: openCount,
  parse: parseRequest,
  encode: inputTokens => ({ inputTokens }),
}

function openCount(...[body, pathModel]: Parameters<OpenBody>): ReturnType<OpenBody> {
  assertKnownFields(body, BODY)
  const input = objectAt(body.input, 'input')
  assertKnownFields(input, INPUT, 'input')
  if (input.invokeModel === undefined) {
    const value = objectAt(input.converse, 'input.converse')
    return { format: 'bedrock-converse', value, parse: parseRequest }
  }
  if (input.converse !== undefined) throw invalid('input', 'must have one of converse and invokeModel.')
  const invoke = objectAt(input.invokeModel, 'input.invokeModel')
  assertKnownFields(invoke, INVOKE, 'input.invokeModel')
  const text = textAt(invoke.body, 'input.invokeModel.body')
  if (!BASE64.test(text)) throw invalid('input.invokeModel.body', 'must be base64.')
  return { bytes: Buffer.from(text, 'base64'), read: value => openCounted(value, pathModel) }
}
