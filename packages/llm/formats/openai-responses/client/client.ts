import type { ClientFormat } from '../../shared/client-format.ts'
import { decodeError } from '../../shared/errors/decode-error.ts'
import { tokenCounter } from './count-tokens.ts'
import { decodeReply } from './decode-reply.ts'
import { openStream } from './decode-stream.ts'
import { encodeRequest } from './encode-request.ts'
import { listUnsupportedParams } from './unsupported-params.ts'

/** The client of OpenAI's Responses. The provider keeps no state for the gateway: every request carries its whole conversation. */
export const openAiResponses: ClientFormat = {
  id: 'openai-responses',
  framing: 'sse',
  repeatsRequest: true,
  encodeRequest,
  listUnsupportedParams,
  decodeReply,
  openStream,
  tokenCounter,
  decodeError,
}
