import type { ClientFormat } from '../../shared/client-format.ts'
import { tokenCounter } from './count-tokens.ts'
import { decodeError } from './decode-error.ts'
import { decodeReply } from './decode-reply.ts'
import { openStream } from './decode-stream.ts'
import { encodeRequest } from './encode-request.ts'
import { listUnsupportedParams } from './unsupported-params.ts'

/** The client of Gemini's generateContent, at AI Studio and Vertex AI. */
export const geminiContent: ClientFormat = {
  id: 'gemini-content',
  framing: 'sse',
  takesEveryToolChoice: true,
  // It fetches few addresses. Source: docs/providers.md, "Gemini".
  inlinesImages: true,
  passesOwn: true,
  encodeRequest,
  listUnsupportedParams,
  decodeReply,
  openStream,
  tokenCounter,
  decodeError,
}
