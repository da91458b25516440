import type { Json } from '../../../json/json-value.ts'
import { toTable } from '../../../json/to-table.ts'
import type { FinishReason } from '../../../reply/chat-reply.ts'

/** `failed`: the model made a call that cannot be carried out, and another attempt may succeed. */
export type Finish = FinishReason | 'failed'

const REASONS: Readonly<Record<string, Finish>> = toTable({
  MAX_TOKENS: 'length',
  SAFETY: 'content_filter',
  RECITATION: 'content_filter',
  BLOCKLIST: 'content_filter',
  PROHIBITED_CONTENT: 'content_filter',
  SPII: 'content_filter',
  MODEL_ARMOR: 'content_filter',
  IMAGE_SAFETY: 'content_filter',
  IMAGE_PROHIBITED_CONTENT: 'content_filter',
  IMAGE_RECITATION: 'content_filter',
  MALFORMED_FUNCTION_CALL: 'failed',
  UNEXPECTED_TOOL_CALL: 'failed',
  TOO_MANY_TOOL_CALLS: 'failed',
  MALFORMED_RESPONSE: 'failed',
  MISSING_THOUGHT_SIGNATURE: 'failed',
})

/** The first version of Vertex AI's API sent the numbers of its enumeration to some clients. */
const NUMBERS: readonly string[] = [
  '',
  'STOP',
  'MAX_TOKENS',
  'SAFETY',
  'RECITATION',
  'OTHER',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'MALFORMED_FUNCTION_CALL',
]

/** undefined: the candidate has not finished. An unknown reason is a stop. */
export function toFinish(value: Json | undefined, hasToolCalls: boolean): Finish | undefined {
  const name = typeof value === 'number' ? NUMBERS[value] : value
  if (typeof name !== 'string' || name === '' || name === 'FINISH_REASON_UNSPECIFIED') return undefined
  const reason = Object.hasOwn(REASONS, name) ? (REASONS[name] as Finish) : 'stop'
  // The reason is STOP after a call too.
  return reason === 'stop' && hasToolCalls ? 'tool_calls' : reason
}
