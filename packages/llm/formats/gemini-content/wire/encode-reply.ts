import type { JsonObject } from '../../../json/json-value.ts'
import type { ChatReply, FinishReason, ReplyChoice, ReplyEnvelope } from '../../../reply/chat-reply.ts'
import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'
import type { ToolCall } from '../../../request/message.ts'
import type { Usage } from '../../../usage/usage.ts'
import { isDirect, unpackToolCallId } from '../../shared/reasoning/reasoning-carrier.ts'
import { isShownReasoning } from '../../shared/reasoning/sandbox-reasoning.ts'
import { listWholeCalls } from '../../shared/tools/call-collector.ts'
import { toArgumentsOrEmpty } from '../../shared/tools/tool-arguments.ts'
import { encodeUsage } from './encode-usage.ts'
import { FORMAT } from './signatures.ts'

/** What a caller asked to get besides the answer. */
export interface ReplyOptions {
  /** The answer contains thoughts. */
  readonly thoughts: boolean
}

/** The canonical reply as a GenerateContentResponse. */
export function encodeReply(reply: ChatReply, envelope: ReplyEnvelope, options: ReplyOptions): JsonObject {
  const candidates = reply.choices.map(choice => ({
    content: { parts: encodeMessage(choice, options), role: 'model' },
    finishReason: toFinishReason(choice.finishReason),
    index: choice.index,
  }))
  return encodeChunk(candidates, envelope, reply.usage)
}

/** A complete answer, or a chunk of a stream, which has the same shape. */
export function encodeChunk(
  candidates: JsonObject[],
  { id, model }: ReplyEnvelope,
  usage: Usage | undefined,
): JsonObject {
  const chunk: JsonObject = { candidates, modelVersion: model, responseId: id }
  if (usage !== undefined) chunk.usageMetadata = encodeUsage(usage)
  return chunk
}

/** The reason is STOP after a call too. */
export function toFinishReason(reason: FinishReason): string {
  if (reason === 'length') return 'MAX_TOKENS'
  return reason === 'content_filter' ? 'SAFETY' : 'STOP'
}

function encodeMessage({ message, finishReason }: ReplyChoice, options: ReplyOptions): JsonObject[] {
  const { reasoning, content, refusal, tool_calls: calls = [], reasoning_details: details = [] } = message
  const parts: JsonObject[] = []
  if (options.thoughts && reasoning !== undefined && reasoning !== '') {
    parts.push({ text: reasoning, thought: true })
  }
  const text = content ?? refusal
  const signature = findSignature(details, undefined)
  if (text !== undefined && text !== '') parts.push({ text })
  if (signature !== undefined) sign(parts, signature)
  parts.push(...encodeCalls(listWholeCalls(calls, finishReason), details))
  return parts
}

/** Puts a signature on the text that it belongs to, or on an empty one. */
function sign(parts: JsonObject[], thoughtSignature: string): void {
  const last = parts.at(-1)
  if (last === undefined || last.thought === true) parts.push({ text: '', thoughtSignature })
  else last.thoughtSignature = thoughtSignature
}

/** The signature that Google made of a call, or of the text if there is no id. */
export function findSignature(
  details: readonly ReasoningDetail[],
  callId: string | undefined,
): string | undefined {
  const isMeant = (detail: ReasoningDetail): boolean =>
    detail.format === FORMAT && isShownReasoning(detail) && detail.id === callId && detail.data !== undefined
  return details.find(isMeant)?.data
}

/** Calls. A signature of Google's has its own field; state of other providers stays in a call's id. */
export function encodeCalls(calls: readonly ToolCall[], details: readonly ReasoningDetail[]): JsonObject[] {
  const signatures = new Map<string, string>()
  for (const detail of calls.length === 0 ? [] : details) {
    const { format, id, data } = detail
    if (format !== FORMAT || id === undefined || data === undefined || !isShownReasoning(detail)) continue
    if (!signatures.has(id)) signatures.set(id, data)
  }
  return calls.map(call => encodeCall(call, signatures))
}

function encodeCall(
  { id: packed, function: fn }: ToolCall,
  signatures: ReadonlyMap<string, string>,
): JsonObject {
  const { id: plain, details: carried } = unpackToolCallId(packed)
  const signature = signatures.get(plain) ?? findSignature(carried, plain)
  const isOwn = carried.every(detail => detail.format === FORMAT && isDirect(detail))
  const id = signature !== undefined && isOwn ? plain : packed
  return {
    functionCall: { ...(id === '' ? {} : { id }), name: fn.name, args: toArgumentsOrEmpty(fn.arguments) },
    ...(signature === undefined ? {} : { thoughtSignature: signature }),
  }
}
