import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'
import type { Message } from '../../../request/message.ts'
import {
  isDirect,
  listReasoningDetails,
  plainToolCallId,
  unpackToolCallId,
} from '../../shared/reasoning/reasoning-carrier.ts'
import { isBeforeGemini3 } from './generation.ts'

/** The format of reasoning details that only Google's models understand. */
export const FORMAT = 'google-gemini-v1'

/** Google documents this signature for calls of other models, and for calls whose signature was lost. */
export const PLACEHOLDER = 'skip_thought_signature_validator'

export function toSignature(data: string, callId: string | undefined): ReasoningDetail {
  return {
    type: 'reasoning.encrypted',
    format: FORMAT,
    data,
    ...(callId === undefined ? {} : { id: callId }),
  }
}

/** The signatures of one assistant message: of its text, and of each call by its plain id. */
export interface Signatures {
  readonly ofText: string | undefined
  readonly ofCalls: ReadonlyMap<string, string>
}

export function toSignatures(message: Message, model: string): Signatures {
  const ofCalls = new Map<string, string>()
  let ofText: string | undefined
  const note = (detail: ReasoningDetail): void => {
    const { format, id, data } = detail
    if (format !== FORMAT || data === undefined || !isDirect(detail)) return
    if (id === undefined) ofText = data
    else if (!ofCalls.has(id)) ofCalls.set(id, data)
  }
  listReasoningDetails(message, FORMAT).forEach(note)
  const calls = message.tool_calls ?? []
  // A client may keep a part of the details: each call's id carries its own.
  for (const { id } of calls) unpackToolCallId(id).details.forEach(note)
  const [first] = calls
  if (
    first !== undefined &&
    needsSignature(model) &&
    !calls.some(({ id }) => ofCalls.has(plainToolCallId(id)))
  ) {
    // Calls made at once have one signature, on the first.
    ofCalls.set(plainToolCallId(first.id), PLACEHOLDER)
  }
  return { ofText, ofCalls }
}

/** Since Gemini 3 a call that comes back without a signature is refused. Older and open models need none. */
export function needsSignature(model: string): boolean {
  return model.startsWith('gemini-') && !isBeforeGemini3(model)
}
