import type { Bill } from '@rideau/llm/usage/bill'
import { estimateTokens } from '@rideau/llm/usage/estimate'
import { type Charge, toAbandonedBill } from '../billing/bill.ts'
import { maxGenerated } from '../billing/generated-tokens.ts'
import { maxOutput, mayReason } from '../targets/chat-amounts.ts'
import type { ChatSelection, ChatTarget } from '../targets/chat-selection.ts'

/** A chat whose answer did not arrive whole: what its bill depends on besides what arrived. */
export interface UnfinishedChat {
  readonly target: ChatTarget
  readonly reserved: ChatSelection['reserved']
  readonly isStream: boolean
  /** Answers that are asked for and billed. */
  readonly choices: number
}

/**
 * Returns the most output tokens that the provider can have generated in `ms` milliseconds, of an answer that does not show them
 * as they are generated: one that is not streamed, or that a model may reason for. undefined: it shows them.
 */
export function findUnseen(
  { target, reserved, isStream, choices }: UnfinishedChat,
  ms: number,
): number | undefined {
  if (isStream && !mayReason(target)) return undefined
  const most = reserved?.outputTokens ?? maxOutput(target) * choices
  return Math.min(most, maxGenerated(ms, choices, target.provider))
}

/** Amounts of the request, in tokens. */
interface AbandonedAmounts {
  readonly inputTokens: number
  /** What all limits reserve. */
  readonly reservedTokens: number | undefined
  /** The output that 99 of 100 answers to this key by this model do not exceed. undefined: too few were seen. */
  readonly usualOutput: number | undefined
}

/**
 * Bills the counted input, and as output the bytes that arrived. A complete plain answer that cannot be read may have
 * had any length: it counts as the usual output of this key and model, or as all reserved output if that is unknown. What
 * the provider generated unseen until the gateway ended the call is billed by the time.
 */
export function toAbandonedChatBill(
  chat: UnfinishedChat,
  charge: Charge,
  { inputTokens, reservedTokens, usualOutput }: AbandonedAmounts,
): Bill {
  const { target, reserved, isStream, choices } = chat
  // An unreadable body such as an error page may be large, but no more output than was requested is billed.
  const maxTokens = reserved?.maxOutputTokens ?? maxOutput(target)
  let outputTokens = Math.min(maxTokens, estimateTokens(charge.bytes))
  if (charge.isAnswered && !isStream && reserved !== undefined)
    outputTokens = Math.min(
      reserved.outputTokens,
      Math.max(outputTokens, usualOutput ?? reserved.outputTokens),
    )
  const generatedTokens = charge.ms === undefined ? undefined : findUnseen(chat, charge.ms)
  const tokens = { inputTokens, outputTokens, generatedTokens, choices, reservedTokens }
  return toAbandonedBill(target.catalogModel, charge, tokens)
}
