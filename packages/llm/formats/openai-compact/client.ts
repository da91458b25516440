import type { JsonObject } from '../../json/json-value.ts'
import type { ChatReply } from '../../reply/chat-reply.ts'
import { JSON_HEADERS } from '../../upstream/json-headers.ts'
import { toAddress } from '../../upstream/openai-address.ts'
import type { Target } from '../../upstream/target.ts'
import { withReportedCost } from '../../usage/reported-cost.ts'
import { decodeUsage } from '../openai-responses/client/decode-usage.ts'
import { passRequest } from '../openai-responses/client/pass-request.ts'
import type { ClientFormat, EncodeRequest } from '../shared/client-format.ts'
import { decodeError } from '../shared/errors/decode-error.ts'
import { COMPACT_ID } from './compact-id.ts'

/** OpenAI's `POST /responses/compact`. Only bodies of this format go there, and only as a whole answer. */
export const openAiCompact: ClientFormat = {
  id: COMPACT_ID,
  framing: 'sse',
  hasNoOutputCap: true,
  encodeRequest,
  listUnsupportedParams: () => [],
  decodeReply,
  openStream: () => {
    throw new Error('a compaction is never streamed')
  },
  decodeError,
}

function encodeRequest(...[request, target, source, dropped = []]: Parameters<EncodeRequest>) {
  if (source?.format !== COMPACT_ID) throw new Error('a compaction is made of no other format')
  // Here nothing is stored unless the field asks for it, which the provider does not know.
  const left = source.fields.has('store') ? dropped : dropped.filter(name => name !== 'store')
  return {
    ...toAddress(target, '/responses/compact'),
    headers: { ...JSON_HEADERS },
    ...passRequest(request, target, source, left),
  }
}

/** The compacted conversation is for the caller alone to read. */
function decodeReply(body: JsonObject, target: Target): ChatReply {
  const usage = withReportedCost(decodeUsage(body), body.usage, target)
  if (!Array.isArray(body.output)) return { choices: [], usage }
  const message = { role: 'assistant' as const, content: null }
  return { choices: [{ index: 0, message, finishReason: 'stop' }], usage }
}
