import type { ToolCall } from '../request/message.ts'
import type { Usage } from '../usage/usage.ts'
import type { ReasoningDetail } from './reasoning-detail.ts'

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter'

export interface ReplyMessage {
  role: 'assistant'
  content: string | null
  tool_calls?: ToolCall[]
  reasoning?: string
  reasoning_details?: readonly ReasoningDetail[]
  refusal?: string
}

/** A part of an answer. `call`: an index of the message's `tool_calls`. `detail`: the reasoning in the form that must come back. */
export type ReplyPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string; readonly detail?: ReasoningDetail }
  | { readonly type: 'call'; readonly call: number }

export interface ReplyChoice {
  index: number
  message: ReplyMessage
  finishReason: FinishReason
  /** The stop sequence that ended the answer, where the provider tells; empty if it does not name it. */
  stopSequence?: string
  /** The message in the provider's order. Absent: its reasoning comes first, then its text, then its calls. */
  parts?: readonly ReplyPart[]
}

export interface ChatReply {
  readonly choices: readonly ReplyChoice[]
  /** undefined: the provider named none. */
  readonly usage: Usage | undefined
}

/** What the gateway's own answer says about itself on the server side of a format. */
export interface ReplyEnvelope {
  readonly id: string
  /** Unix seconds. */
  readonly created: number
  readonly model: string
}
