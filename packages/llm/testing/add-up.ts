import type { FinishReason } from '../reply/chat-reply.ts'
import type { ReasoningDetail } from '../reply/reasoning-detail.ts'
import type { DeltaEvent, StreamEvent } from '../stream/stream-event.ts'
import type { UpstreamError } from '../upstream/upstream-error.ts'
import type { Usage } from '../usage/usage.ts'

/** A stream's events as a client adds them up. */
export interface AddedUp {
  content: string
  reasoning: string
  details: ReasoningDetail[]
  calls: { id: string; name: string; arguments: string }[]
  finishReason: FinishReason | undefined
  usage: Usage | undefined
  error: UpstreamError | undefined
  isEnded: boolean
}

/** Throws where a client would be misled: a fragment of a call that never began, or a name that comes twice. */
export function addUp(events: readonly StreamEvent[]): AddedUp {
  const sum: AddedUp = {
    content: '',
    reasoning: '',
    details: [],
    calls: [],
    finishReason: undefined,
    usage: undefined,
    error: undefined,
    isEnded: false,
  }
  for (const event of events) {
    if (sum.isEnded) throw new Error('an event after the end')
    if (event.type === 'usage') sum.usage = event.usage
    else if (event.type === 'error') sum.error = event.error
    else if (event.type === 'end') sum.isEnded = true
    else addDelta(sum, event)
  }
  return sum
}

function addDelta(sum: AddedUp, delta: DeltaEvent): void {
  sum.content += delta.content ?? ''
  sum.reasoning += delta.reasoning ?? ''
  sum.details.push(...(delta.reasoningDetails ?? []))
  if (delta.finishReason !== undefined) sum.finishReason = delta.finishReason
  for (const { index, id, function: fn } of delta.toolCalls ?? []) {
    const known = sum.calls[index]
    if (known === undefined) {
      if (index !== sum.calls.length || !id || !fn?.name)
        throw new Error('a call begins without id, name or order')
      sum.calls.push({ id, name: fn.name, arguments: fn.arguments ?? '' })
    } else if (id !== undefined || fn?.name !== undefined) throw new Error('a call begins twice')
    else known.arguments += fn?.arguments ?? ''
  }
}
