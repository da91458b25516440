import type { ClientFormat } from '../../shared/client-format.ts'
import { tokenCounter } from './count-tokens.ts'
import { decodeError } from './decode-error.ts'
import { decodeReply } from './decode-reply.ts'
import { openStream } from './decode-stream.ts'
import { encodeRequest } from './encode-request.ts'
import { listUnsupportedParams } from './unsupported-params.ts'

/** The client side of Anthropic's Messages API. */
export const anthropicMessages: ClientFormat = {
  id: 'anthropic-messages',
  framing: 'sse',
  takesCacheMarks: () => true,
  encodeRequest,
  listUnsupportedParams,
  decodeReply,
  openStream,
  tokenCounter,
  decodeError,
}
