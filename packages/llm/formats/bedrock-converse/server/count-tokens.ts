import type { SentBody } from '../../../json/unwritten-json.ts'
import { assertKnownFields, invalid, objectAt, textAt } from '../../shared/reading/read-fields.ts'
import type { CountFormat, OpenBody } from '../../shared/server-format.ts'
import { openCounted } from './open-invoke.ts'
import { parseRequest } from './parse-request.ts'
import { converseServer } from './server.ts'

const BODY: ReadonlySet<string> = new Set(['input'])
const INPUT: ReadonlySet<string> = new Set(['converse', 'invokeModel'])
const INVOKE: ReadonlySet<string> = new Set(['body'])
const BASE64 = /^[A-Za-z0-9+/]*$/
/** Characters that are checked and decoded at once: half a millisecond. Four of them are three bytes. */
const PIECE = 256 * 1024

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
  const bytes: SentBody =
    text.length <= PIECE
      ? Buffer.concat([...decodeStrictBase64(text)])
      : { pieces: () => decodeStrictBase64(text) }
  return { bytes, read: value => openCounted(value, pathModel) }
}

/** Yields the bytes of a text in pieces, since 27 MB take 40 to 80 ms together. Throws RequestError. */
function* decodeStrictBase64(text: string): Generator<Buffer, void> {
  const end = text.length - countPadding(text)
  for (let at = 0; at < end; at += PIECE) {
    const piece = text.slice(at, Math.min(end, at + PIECE))
    if (!BASE64.test(piece)) throw invalid('input.invokeModel.body', 'must be base64.')
    yield Buffer.from(piece, 'base64')
  }
}

function countPadding(text: string): number {
  if (!text.endsWith('=')) return 0
  return text.endsWith('==') ? 2 : 1
}
