import { toSentJson } from '../../../json/unwritten-json.ts'
import { JSON_HEADERS } from '../../../upstream/json-headers.ts'
import { toAddress } from '../../../upstream/openai-address.ts'
import type { TokenCounter } from '../../shared/client-format.ts'
import { pickFields } from '../../shared/reading/pick-fields.ts'
import { FIELDS } from '../wire/fields.ts'
import { encodeRequest } from './encode-request.ts'

/** The fields of the route. It refuses the others of a request, which concern the answer. */
const COUNTED = [
  'model',
  'input',
  'instructions',
  'previous_response_id',
  'conversation',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'text',
  'reasoning',
  'truncation',
]

/** OpenAI's `POST /responses/input_tokens`. Other servers of the format have no such route. */
export const tokenCounter: TokenCounter = {
  canCount: ({ provider }) => provider.openai?.countsInput === true,
  encodeRequest: (request, target, source, dropped) => {
    const whole = encodeRequest({ ...request, stream: false }, target, source, dropped)
    const value = pickFields(whole, COUNTED)
    return {
      ...toAddress(target, '/responses/input_tokens'),
      headers: { ...JSON_HEADERS },
      body: toSentJson(value),
      content: { rules: FIELDS.rules, value },
    }
  },
  decodeReply: ({ input_tokens: tokens }) =>
    typeof tokens === 'number' && Number.isSafeInteger(tokens) && tokens >= 0 ? tokens : undefined,
  // A credential's own address may be of a server without the route.
  isLacking: ({ status }) => status === 404 || status === 405,
}
