import type { ClientFormat } from '../../shared/client-format.ts'
import { decodeError } from '../../shared/errors/decode-error.ts'
import { decodeReply } from './decode-reply.ts'
import { openStream } from './decode-stream.ts'
import { encodeRequest, listUnsupportedParams } from './encode-request.ts'

/** The client side of version 2 of Cohere's chat. Its errors are words in an envelope, as others' are. */
export const cohereV2: ClientFormat = {
  id: 'cohere-v2',
  framing: 'sse',
  encodeRequest,
  listUnsupportedParams,
  decodeReply,
  openStream,
  decodeError,
}
