import type { Amounts, LimitRefusal } from '../../ledger/ledger.ts'
import type { ChatTarget } from '../targets/chat-selection.ts'
import { mayReason } from '../targets/reserved-amounts.ts'

/** The least that is worth an answer, in output tokens; OpenAI's Responses take no lower maximum. */
const MIN_OUTPUT = 16
/** The same for a model that reasons, whose answer otherwise ends before its first word. */
const MIN_REASONED_OUTPUT = 1_024

/** A reservation that a limit refused. */
interface Refused {
  readonly targets: readonly ChatTarget[]
  /** Output tokens of one choice. */
  readonly output: number
}

/**
 * Returns the most output tokens of one choice that fit what the limit has left, fewer than were refused. undefined: too few for
 * an answer, or the limit frees enough by waiting, which keeps the answer whole. `amountsOf` must not fall with the output.
 */
export function findFittingOutput(
  { meter, settled, reserved, retryAt }: LimitRefusal,
  { targets, output }: Refused,
  amountsOf: (output: number) => Amounts,
): number | undefined {
  if (meter.kind === 'rolling' && retryAt !== null) return undefined
  const left = meter.limit - settled - reserved
  const fits = (tokens: number): boolean => {
    const amounts = amountsOf(tokens)
    return (meter.metric === 'tokens' ? amounts.tokens : amounts.nanoUsd) <= left
  }
  let fitting = targets.some(mayReason) ? MIN_REASONED_OUTPUT : MIN_OUTPUT
  if (fitting >= output || !fits(fitting)) return undefined
  let tooMany = output
  while (tooMany - fitting > 1) {
    const middle = (fitting + tooMany) >> 1
    if (fits(middle)) fitting = middle
    else tooMany = middle
  }
  return fitting
}
