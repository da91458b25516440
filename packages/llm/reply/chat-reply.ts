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

export interface ReplyChoice {
  index: number
  message: ReplyMessage
  finishReason: FinishReason
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
