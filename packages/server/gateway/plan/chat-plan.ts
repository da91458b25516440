import type { ClientFormat } from '@rideau/llm/formats/shared/client-format'
import type { ParsedChat } from '@rideau/llm/formats/shared/parsed-chat'
import type { ChatRequest } from '@rideau/llm/request/chat-request'
import type { SourceBody } from '@rideau/llm/request/source-body'
import type { Refusal } from '../../core/verdict.ts'
import type { ReservedOutput } from '../limits/reserved-output.ts'
import type { CallPlan, ResolvedTarget } from './call-plan.ts'

/** One model that may answer, with everything that a try at it takes. */
export interface PlannedTarget extends ResolvedTarget {
  /** The format in which this request goes to it; a provider may speak several. */
  readonly format: ClientFormat
  /** What is asked of it: the caller's request, with a lower output cap where the key's bound needs one. */
  readonly request: ChatRequest
  /** Parameters left out because the environment says `drop`. */
  readonly dropped: readonly string[]
}

/** Everything that is decided before a provider is called. */
export interface ChatPlan extends CallPlan<PlannedTarget> {
  readonly call: ParsedChat
  readonly source: SourceBody
  /** What is held of limits of tokens and money; absent: none concerns the request. */
  readonly reserved?: ReservedOutput
}

export type TargetPlan = PlannedTarget | { readonly refusal: Refusal }
