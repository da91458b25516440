import type { ClientFormat } from '@rideau/llm/formats/shared/client-format'
import type { ParsedChat } from '@rideau/llm/formats/shared/requests/parsed-chat'
import type { ChatRequest } from '@rideau/llm/request/chat-request'
import type { SourceBody } from '@rideau/llm/request/source-body'
import type { Refusal } from '../../core/refusal.ts'
import type { ReservedOutput } from '../limits/reserved-output.ts'
import type { GrantedTools } from './grant-hosted-tools.ts'
import type { ResolvedTarget, TargetSelection } from './target-selection.ts'

/** A target of a chat request, with everything that an attempt needs. */
export interface ChatTarget extends ResolvedTarget {
  /** The format of this request. A provider may support several. */
  readonly format: ClientFormat
  /** The caller's request, with a lower output cap if the key's cost bound requires it. */
  readonly request: ChatRequest
  /**
   * Wire names of parameters that are left out: those that only steer sampling or are hints, tools that the provider does not
   * run, and others if the environment's `unsupported_params` is `drop`.
   */
  readonly dropped: readonly string[]
  /** Fields that the request goes without since a client token sent it. `store`: the provider must not store the answer. */
  readonly withheld: readonly string[]
  /** The caller wants one call at a time, and the provider cannot be asked for that: the first call of an answer is kept. */
  readonly keepsFirstCall: boolean
  /** Tools that the provider may run. undefined: the request asks for none. */
  readonly hosted: GrantedTools | undefined
}

/** Everything that is decided before a provider is called. */
export interface ChatSelection extends TargetSelection<ChatTarget> {
  readonly parsed: ParsedChat
  readonly source: SourceBody
  /** What is reserved on limits of tokens and money. Absent: no such limit applies. */
  readonly reserved?: ReservedOutput
}

export type ChatTargetVerdict = ChatTarget | { readonly refusal: Refusal }
