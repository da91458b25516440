import type { ClientFormat } from '../../shared/client-format.ts'
import { tokenCounter } from './count-tokens.ts'
import { decodeError } from './decode-error.ts'
import { decodeReply } from './decode-reply.ts'
import { openStream } from './decode-stream.ts'
import { encodeRequest, listUnsupportedParams } from './encode-request.ts'
import { takesCachePoints } from './model-family.ts'

/** The client side of AWS Bedrock's Converse API, for the models of every maker. */
export const bedrockConverse: ClientFormat = {
  id: 'bedrock-converse',
  framing: 'aws-event-stream',
  inlinesImages: true,
  takesCacheMarks: (_provider, model) => takesCachePoints(model),
  encodeRequest,
  listUnsupportedParams,
  decodeReply,
  openStream,
  tokenCounter,
  decodeError,
}
