import type { ClientFormat } from '../../shared/client-format.ts'
import { decodeError } from '../../shared/errors/decode-error.ts'
import { decodeReply, openStream } from './decode.ts'
import { encodeRequest, listUnsupportedParams } from './encode-request.ts'

/** Calls providers of Ollama's chat. Its errors are texts in an envelope, as those of other formats. */
export const ollamaChat: ClientFormat = {
  id: 'ollama-chat',
  framing: 'ndjson',
  inlinesImages: true,
  encodeRequest,
  listUnsupportedParams,
  decodeReply,
  openStream,
  decodeError,
}
