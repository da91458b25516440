import type { ClientFormat } from '../../shared/client-format.ts'
import { decodeError } from '../../shared/decode-error.ts'
import { decodeReply, openStream } from './decode.ts'
import { encodeRequest, findUnsupportedParams } from './encode-request.ts'

/** Ollama's own chat as we call it. Its errors are words in an envelope, as others' are. */
export const ollamaChat: ClientFormat = {
  id: 'ollama-chat',
  framing: 'ndjson',
  inlinesImages: true,
  encodeRequest,
  findUnsupportedParams,
  decodeReply,
  openStream,
  decodeError,
}
