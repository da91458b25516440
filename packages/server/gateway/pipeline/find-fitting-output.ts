import type { Amounts, LimitRefusal } from '../../ledger/ledger.ts'
import { mayReason } from '../targets/chat-amounts.ts'
import type { ChatTarget } from '../targets/chat-selection.ts'

/** The least that is worth an answer, in output tokens; OpenAI's Responses take no lower maximum. */
const MIN_OUTPUT = 16
/** The same for a model that reasons, whose answer otherwise ends before its first word. */
const MIN_REASONED_OUTPUT = 1_024
/** A rolling window frees room while it is used, so an answer waits for this share of it and is not cut to what is left. */
const ROLLING_SHARE = 1 / 2

/** What a request would reserve. */
export interface Reservable {
  readonly targets: readonly ChatTarget[]
  /** Output tokens of one choice. */
  readonly output: number
}

/**
 * Returns the most output that fits what the limits have left, and the most targets that have room for it. If too little is left for an
 * answer, returns the least that the last limit ever serves, which it refuses with the wait for that. undefined: waiting alone
 * helps, or nothing does.
 *
 * `refusals`: all so far, the last one newest. `refused`: what was refused before anything was fitted; each has no more targets and output than the
 * one before. `amountsOf` must not fall with the targets or the output.
 */
export function findFittingOutput(
  refusals: readonly LimitRefusal[],
  refused: readonly Reservable[],
  amountsOf: (targets: readonly ChatTarget[], output: number) => Amounts,
): Reservable | undefined {
  const last = refusals.at(-1) as LimitRefusal
  const narrowest = refused.at(-1) as Reservable
  if (last.meter.kind === 'rolling' && last.retryAt !== null) return undefined
  const fits = (each: readonly ChatTarget[], output: number): boolean => {
    const amounts = amountsOf(each, output)
    return refusals.every(refusal => amountOf(refusal, amounts) <= leftOf(refusal))
  }
  let least: Reservable | undefined
  let leastAmount = last.wanted
  for (const lists of listTargets(refused)) {
    const targets = lists.at(-1) as readonly ChatTarget[]
    const output = leastOutput(targets)
    if (output >= narrowest.output) continue
    if (!fits(targets, output)) {
      const amount = amountOf(last, amountsOf(targets, output))
      if (amount > last.meter.limit || amount >= leastAmount) continue
      least = { targets, output }
      leastAmount = amount
      continue
    }
    const most = findMost(output, narrowest.output, tokens => fits(targets, tokens))
    const widest = lists.find(each => leastOutput(each) <= most && fits(each, most))
    return { targets: widest ?? targets, output: most }
  }
  return least
}

/**
 * Returns the lists of targets that were refused, and the same lists without targets that reason, which get along with less output. The
 * last of each gets the most output.
 */
function listTargets(refused: readonly Reservable[]): readonly (readonly (readonly ChatTarget[])[])[] {
  const all = refused.map(({ targets }) => targets)
  const plain = all
    .map(targets => targets.filter(target => !mayReason(target)))
    .filter(({ length }) => length > 0)
  return plain.length === 0 || all.at(-1)?.some(mayReason) !== true ? [all] : [all, plain]
}

function leastOutput(targets: readonly ChatTarget[]): number {
  return targets.some(mayReason) ? MIN_REASONED_OUTPUT : MIN_OUTPUT
}

function amountOf({ meter }: LimitRefusal, { tokens, nanoUsd }: Amounts): number {
  return meter.metric === 'tokens' ? tokens : nanoUsd
}

function leftOf({ meter, settled, reserved }: LimitRefusal): number {
  const left = meter.limit - settled - reserved
  return meter.kind === 'rolling' ? Math.max(left, meter.limit * ROLLING_SHARE) : left
}

/** Returns the largest whole number that fits. `fitting` does, and `tooMany` does not. */
function findMost(fitting: number, tooMany: number, fits: (tokens: number) => boolean): number {
  let most = fitting
  for (let above = tooMany; above - most > 1; ) {
    const middle = (most + above) >> 1
    if (fits(middle)) most = middle
    else above = middle
  }
  return most
}
