import type { JsonObject } from '../../../json/json-value.ts'
import { joinAddress } from '../../../upstream/join-address.ts'
import type { TokenCounter } from '../../shared/client-format.ts'
import { encodeBody, encodeHeaders } from './encode-request.ts'
import { passRequest } from './pass-request.ts'

/** What a count is not asked for: it would be refused. */
const OF_THE_ANSWER = ['max_tokens', 'stream', 'temperature', 'top_p', 'top_k', 'stop_sequences', 'metadata']

/** `POST /v1/messages/count_tokens`. */
export const tokenCounter: TokenCounter = {
  encodeRequest: (request, target, source) => {
    const isOurs = source?.format === 'anthropic-messages'
    return {
      ...joinAddress(target.baseUrl, '/messages/count_tokens'),
      headers: encodeHeaders(false, isOurs ? source.headers : undefined),
      ...(isOurs
        ? passRequest(request, target.model, source, OF_THE_ANSWER)
        : { body: Buffer.from(JSON.stringify(without(encodeBody(request, target)))) }),
    }
  },
  decodeReply: ({ input_tokens: tokens }) =>
    typeof tokens === 'number' && Number.isSafeInteger(tokens) && tokens >= 0 ? tokens : undefined,
}

function without(body: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([name]) => !OF_THE_ANSWER.includes(name)))
}
