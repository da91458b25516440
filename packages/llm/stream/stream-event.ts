import type { FinishReason } from '../reply/chat-reply.ts'
import type { ReasoningDetail } from '../reply/reasoning-detail.ts'
import type { UpstreamError } from '../upstream/upstream-error.ts'
import type { Usage } from '../usage/usage.ts'

export interface ToolCallDelta {
  index: number
  id?: string
  type?: 'function'
  function?: { name?: string; arguments?: string }
}

/** A new part of one choice's answer. */
export interface DeltaEvent {
  readonly type: 'delta'
  readonly index: number
  readonly role?: 'assistant'
  readonly content?: string
  readonly reasoning?: string
  readonly reasoningDetails?: readonly ReasoningDetail[]
  readonly refusal?: string
  readonly toolCalls?: readonly ToolCallDelta[]
  readonly finishReason?: FinishReason
  /** Beside a finish reason; see ReplyChoice. */
  readonly stopSequence?: string
}

/** What one frame of a provider's stream means. */
export type StreamEvent =
  | DeltaEvent
  | { readonly type: 'usage'; readonly usage: Usage }
  | {
      readonly type: 'error'
      readonly error: UpstreamError
      /**
       * The choice that ended with it: its frame may have output too, and the usage of the answer may follow. Absent: the
       * whole answer failed.
       */
      readonly index?: number
    }
  | { readonly type: 'end' }

/** A decoder of one stream: it keeps what later frames need. */
export interface StreamDecoder {
  /** `data` is the payload of one SSE event, `event` its name. */
  decode(data: string, event?: string): readonly StreamEvent[]
  /**
   * About how many bytes it has kept so far of what no event carried. What events carried is counted by who gets them. Absent: next to
   * none.
   */
  readonly unsent?: number
  /** The usage reported so far, by providers that report the input first: for a stream that breaks off. */
  partialUsage?(): Usage | undefined
}
