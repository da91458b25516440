import type { JsonObject } from '../../../json/json-value.ts'
import { joinAddress } from '../../../upstream/join-address.ts'
import type { EncodedRequest } from '../../../upstream/upstream-request.ts'
import type { TokenCounter } from '../../shared/client-format.ts'
import { toWellFormedBody } from '../../shared/reading/well-formed-json.ts'
import { withoutNamed } from '../../shared/requests/field-table.ts'
import { ANSWER_FIELDS, FIELDS } from '../wire/fields.ts'
import { encodeBody } from './encode-body.ts'
import { encodeHeaders } from './encode-request.ts'
import { passRequest } from './pass-request.ts'

/** `POST /v1/messages/count_tokens`. It takes a message request without the fields of the answer. */
export const tokenCounter: TokenCounter = {
  // Clouds that wrap this format in their own have no counting route.
  canCount: ({ provider }) => provider.messages === undefined,
  encodeRequest: (request, target, source, dropped = []) => {
    const isSameFormat = source?.format === 'anthropic-messages'
    return {
      ...joinAddress(target.baseUrl, '/messages/count_tokens'),
      headers: encodeHeaders(false, isSameFormat ? source.headers : undefined),
      ...(isSameFormat
        ? passRequest(request, target.model, source, [...ANSWER_FIELDS, ...dropped])
        : toCounted(withoutAnswerFields(encodeBody(withoutNamed(request, dropped), target)))),
    }
  },
  decodeReply: ({ input_tokens: tokens }) =>
    typeof tokens === 'number' && Number.isSafeInteger(tokens) && tokens >= 0 ? tokens : undefined,
}

function toCounted(body: JsonObject): Pick<EncodedRequest, 'body' | 'content'> {
  return { body: toWellFormedBody(body), content: { rules: FIELDS.rules, value: body } }
}

function withoutAnswerFields(body: JsonObject): JsonObject {
  for (const name of ANSWER_FIELDS) delete body[name]
  return body
}
