import type { ClientFormat } from '../../shared/client-format.ts'
import { decodeError } from '../../shared/decode-error.ts'
import { decodeReply } from './decode-reply.ts'
import { openStream } from './decode-stream.ts'
import { encodeRequest, findUnsupportedParams } from './encode-request.ts'

/** OpenAI's chat completions as we call them, with every provider's deviations. */
export const openAiChat: ClientFormat = {
  id: 'openai-chat',
  framing: 'sse',
  takesEveryToolChoice: true,
  encodeRequest,
  findUnsupportedParams,
  decodeReply,
  openStream,
  decodeError,
}
