import type { JsonObject } from '../../json/json-value.ts'
import { parseRequest as parseResponse } from '../openai-responses/server/parse-request.ts'
import { toOpenAiEnvelope } from '../shared/errors/error-envelope.ts'
import { invalid, optionalFlag } from '../shared/reading/read-fields.ts'
import type { ParseContext, ParsedChat } from '../shared/requests/parsed-chat.ts'
import type { ChatServer } from '../shared/server-format.ts'
import { COMPACT_ID } from './compact-id.ts'

/**
 * `{prefix}/v1/responses/compact`: a conversation becomes a shorter one, of which one item is encrypted. Only OpenAI can read
 * that, so only its answers pass through.
 */
export const compactServer: ChatServer = {
  id: COMPACT_ID,
  parse: parseCompact,
  encodeReply: (_context, { bytes }) => bytes,
  openStream: () => {
    throw new Error('a compaction is never streamed')
  },
  encodeStreamFault: (fault, requestId, baseUrl) =>
    `data: ${JSON.stringify(toOpenAiEnvelope(fault, requestId, baseUrl))}\n\n`,
}

/** A request of Responses, whose answer is whole and has no cap. Throws RequestError. */
function parseCompact(body: JsonObject, context: ParseContext): ParsedChat {
  if (optionalFlag(body, 'stream') === true) {
    throw invalid('stream', 'must be false: a compaction is answered as a whole.')
  }
  if (body.max_output_tokens !== undefined && body.max_output_tokens !== null) {
    throw invalid('max_output_tokens', 'may not be set here: no field bounds what a compaction writes.')
  }
  const isStored = body.previous_response_id !== undefined && body.previous_response_id !== null
  const hasInput = body.input !== undefined && body.input !== null
  return parseResponse(isStored && !hasInput ? { ...body, input: [] } : body, context)
}
