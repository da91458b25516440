import type { ClientFormat } from '../../shared/client-format.ts'
import { decodeError } from './decode-error.ts'
import { decodeReply } from './decode-reply.ts'
import { openStream } from './decode-stream.ts'
import { encodeRequest } from './encode-request.ts'
import { findUnsupportedParams } from './unsupported-params.ts'

/** Gemini's generateContent, as AI Studio and Vertex AI serve it. */
export const geminiContent: ClientFormat = {
  id: 'gemini-content',
  framing: 'sse',
  takesEveryToolChoice: true,
  // It fetches few addresses, and honours what robots may not read (wire facts §1.4).
  inlinesImages: true,
  passesOwn: true,
  encodeRequest,
  findUnsupportedParams,
  decodeReply,
  openStream,
  decodeError,
}
