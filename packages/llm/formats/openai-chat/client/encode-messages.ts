import { createHash } from 'node:crypto'
import type { OpenAiDeviations } from '../../../provider/openai-deviations.ts'
import type { Message, ToolCall } from '../../../request/message.ts'
import { listHandedDetails, shortToolCallId } from '../../shared/reasoning/reasoning-carrier.ts'

/** The messages in the form that the provider takes; undefined: they have it already. */
export function encodeMessages(
  messages: readonly Message[],
  deviations: OpenAiDeviations,
  providerId: string,
): readonly Message[] | undefined {
  const { developerRole = false, toolCallIdLength } = deviations
  const encode = (message: Message): Message => {
    const own = withoutCarriedReasoning(withHandedDetails(message, providerId))
    const known: Message = !developerRole && own.role === 'developer' ? { ...own, role: 'system' } : own
    const fitting = toolCallIdLength === undefined ? known : withToolCallIds(known, toolCallIdLength)
    return fitting.role === 'assistant' ? withReasoning(fitting, deviations) : fitting
  }
  return messages.some(message => encode(message) !== message) ? messages.map(encode) : undefined
}

/**
 * The message with the reasoning details that this provider passed on to the gateway, from its own field or from the ids of its
 * calls, and without those of other providers.
 */
function withHandedDetails(message: Message, providerId: string): Message {
  if (message.role !== 'assistant') return message
  const kept = message.reasoning_details
  const carries = Array.isArray(message.tool_calls) && message.tool_calls.some(({ id }) => isPacked(id))
  if (!carries && (!Array.isArray(kept) || !kept.some(isMarked))) return message
  const details = listHandedDetails(message, providerId)
  const { reasoning_details: _kept, ...plain } = message
  return details.length === 0 ? plain : { ...plain, reasoning_details: details }
}

function isMarked(detail: unknown): boolean {
  return typeof detail === 'object' && detail !== null && 'via' in detail
}

/** The message with the provider's own ids: an id that carries reasoning is longer than OpenAI takes. */
function withoutCarriedReasoning(message: Message): Message {
  const calls = message.tool_calls
  const resultId = message.tool_call_id
  const inCalls = Array.isArray(calls) && calls.some(({ id }) => isPacked(id))
  const inResult = isPacked(resultId)
  if (!inCalls && !inResult) return message
  return {
    ...message,
    ...(inCalls ? { tool_calls: calls.map(call => ({ ...call, id: shortToolCallId(call.id) })) } : {}),
    ...(inResult ? { tool_call_id: shortToolCallId(resultId) } : {}),
  }
}

function isPacked(id: unknown): id is string {
  return typeof id === 'string' && shortToolCallId(id) !== id
}

const REASONING_FIELDS = ['reasoning_content', 'reasoning', 'reasoning_details'] as const

/** The message with its reasoning under the provider's one name for it: some refuse other fields, some a turn without any. */
function withReasoning(message: Message, deviations: OpenAiDeviations): Message {
  const { reasoningField, reasoningPlaceholder } = deviations
  if (reasoningField === undefined) return message
  const given = [message.reasoning_content, message.reasoning].find(text => typeof text === 'string')
  const isLost = (given ?? '') === '' && (message.tool_calls?.length ?? 0) > 0
  const text = isLost ? (reasoningPlaceholder ?? given) : given
  const wanted = reasoningField === 'refused' ? undefined : text
  const isRight = REASONING_FIELDS.every(
    name => message[name] === (name === reasoningField ? wanted : undefined),
  )
  if (isRight) return message
  const { reasoning_content: _content, reasoning: _text, reasoning_details: _details, ...plain } = message
  return wanted === undefined ? plain : { ...plain, [reasoningField]: wanted }
}

/** The message with ids of the one length that the provider takes. A call and its result get the same new id. */
function withToolCallIds(message: Message, length: number): Message {
  const calls = message.tool_calls
  const badCalls = Array.isArray(calls) && calls.some(call => !isFitting(call.id, length))
  const resultId = message.tool_call_id
  const badResult = typeof resultId === 'string' && !isFitting(resultId, length)
  if (!badCalls && !badResult) return message
  return {
    ...message,
    ...(badCalls
      ? { tool_calls: calls.map((call): ToolCall => ({ ...call, id: fit(call.id, length) })) }
      : {}),
    ...(badResult ? { tool_call_id: fit(resultId, length) } : {}),
  }
}

function isFitting(id: unknown, length: number): boolean {
  return typeof id === 'string' && id.length === length && /^[A-Za-z0-9]+$/.test(id)
}

function fit(id: string, length: number): string {
  return isFitting(id, length) ? id : createHash('sha256').update(id).digest('hex').slice(0, length)
}
