import type { ClientFormat } from '../../shared/client-format.ts'
import { decodeError } from '../../shared/errors/decode-error.ts'
import { decodeReply } from './decode-reply.ts'
import { openStream } from './decode-stream.ts'
import { encodeRequest, listUnsupportedParams } from './encode-request.ts'
import { isForeign } from './wire-body.ts'

/** Calls providers of OpenAI's chat completions, with the deviations of each. */
export const openAiChat: ClientFormat = {
  id: 'openai-chat',
  framing: 'sse',
  takesEveryToolChoice: true,
  inlinesInOwn: true,
  takesCacheMarks: ({ openai }, _model, source) => !isForeign(source) || openai?.takesCacheMarks === true,
  encodeRequest,
  listUnsupportedParams,
  decodeReply,
  openStream,
  decodeError,
}
