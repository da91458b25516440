import type { MeterSet } from '../../core/limits/list-meters.ts'
import type { Amounts, LimitRefusal } from '../../ledger/ledger.ts'
import { countPricedAudio } from '../billing/heard-tokens.ts'
import { countLargeImages } from '../billing/image-tokens.ts'
import { countRequest } from '../billing/input-counts.ts'
import { Reservation, type ReservationVerdict } from '../limits/reservations.ts'
import type { IdentifiedContext } from '../request/request-context.ts'
import {
  keepsMaximum,
  maxOutput,
  mayReason,
  type PricedTarget,
  type ReservedInput,
  toLikelyInput,
  toMaxInput,
  toReservedAmounts,
} from '../targets/chat-amounts.ts'
import type { ChatSelection, ChatTarget } from '../targets/chat-selection.ts'
import { findAudio } from '../targets/check-audio-price.ts'
import { findUnmeasured } from '../targets/find-unmeasured.ts'
import { withOutputCap } from '../targets/with-output-cap.ts'
import { findFittingOutput, type Reservable } from './find-fitting-output.ts'
import type { PipelineDeps } from './pipeline-deps.ts'
import { acceptReservation, isSandboxOnly, reserveAmounts, tryReserveAmounts } from './reserve-amounts.ts'

/**
 * Output tokens that a stream reserves first if too few answers were seen. The reservation is extended as the stream
 * goes on.
 */
const FIRST_OUTPUT = 1_024
/** Output tokens that an answer is capped to if its maximum does not fit and too few answers were seen. */
const SMALL_OUTPUT = 4_096
/** How often the output is fitted to what a limit has left: several limits may be tight, and others use them meanwhile. */
const MAX_FITTED = 4
/** A reservation above this share of a limit's remainder is reduced, so that it does not keep out small ones. */
const LARGE_SHARE = 1 / 8

/** A possible reservation. Each candidate reserves less than the one before, until one is fitted to what the limits have left. */
interface Candidate extends Reservable {
  /** True: `output` is sent to the target as its cap, since it is less than the most that the answer may have. */
  readonly isCapped: boolean
}

interface ChatNeeds {
  readonly selection: ChatSelection
  readonly limits: MeterSet
  /** Input tokens that are billed if the provider reports no usage. */
  readonly input: number
  /** Input tokens of what is read. */
  readonly counted: number
  readonly reserved: ReservedInput
  /** PricedTarget.imageTokens of each target. */
  readonly imageTokens: ReadonlyMap<ChatTarget, number>
  readonly choices: number
  readonly isSandbox: boolean
}

/**
 * Reserves what a chat request may use, and returns the selection with the caps that follow from it. A stream that can be
 * cut reserves its usual output and extends that as it goes on. Other answers reserve their maximum, or their usual
 * output and are capped to that, so `finish_reason` may be `length` where a budget binds. Where even that does not fit
 * and the caller named no maximum, the output is what the limit has left. Where a budget's `on_tight` is
 * `refuse`, a maximum that the caller named is reserved whole or the request is refused.
 */
export function reserveChat(
  ctx: IdentifiedContext,
  selection: ChatSelection,
  limits: MeterSet,
  deps: PipelineDeps,
): ChatSelection | Promise<ChatSelection> {
  const isSandbox = isSandboxOnly(selection)
  if (!limits.hasAmountMeter) {
    const reserving = reserveAmounts(ctx, deps, { limits, isSandbox, amounts: { tokens: 0, nanoUsd: 0 } })
    return reserving === undefined ? selection : reserving.then(() => selection)
  }
  const { findings, request } = selection.parsed
  const counts = countRequest(request, selection.source, deps.random)
  const { likely, most, packed, audio, images } = counts
  const unread = counts.unread + packed
  const isByAddress = findUnmeasured(selection.parsed) !== undefined
  const isUnmeasured = isByAddress || buildsOnStored(selection)
  ctx.needsUsage = isByAddress || packed > 0
  const hasUncountedTools = findings.uncounted.length > 0
  const parts = { counted: most, unread, isUnmeasured, hasUncountedTools }
  const maxInput = toMaxInput(parts, selection.targets)
  const toImageTokens = (target: ChatTarget): number => {
    const withImages = { ...parts, unread: unread + countLargeImages(images, target) }
    return toMaxInput(withImages, selection.targets) - maxInput
  }
  const isUnknownAudio = isUnmeasured && findAudio(request) !== undefined
  const needs: ChatNeeds = {
    selection,
    limits,
    // Otherwise a caller who ends each stream before its usage arrives would pay for a fraction.
    input: toLikelyInput(likely, isByAddress ? Number.POSITIVE_INFINITY : unread, selection.targets),
    counted: parts.counted,
    reserved: {
      input: maxInput,
      audioInput: isUnknownAudio ? maxInput : countPricedAudio(audio, selection.targets),
      mayWriteCache: findings.asksForCaching,
    },
    imageTokens: new Map(selection.targets.map(target => [target, toImageTokens(target)])),
    choices: findings.choices,
    isSandbox,
  }
  const keepsWhole = isKeptWhole(selection, limits, isSandbox)
  const ordinary = listCandidates(ctx, selection, keepsWhole, deps)
  const candidates = [...ordinary]
  const refusals: LimitRefusal[] = []
  // A maximum that the caller named, and that fits nothing, is refused: waiting or a smaller one may suit the caller better.
  const isFitted = !keepsWhole && request.maxOutputTokens === undefined
  const mostCandidates = candidates.length + (isFitted ? MAX_FITTED : 0)
  const tryCandidate = (index: number): ChatSelection | Promise<ChatSelection> => {
    const candidate = candidates[index] as Candidate
    const verdict = tryReserveAmounts(ctx, deps, {
      limits,
      isSandbox,
      amounts: amountsOf(needs, candidate.targets, candidate.output),
    })
    return verdict instanceof Promise ? verdict.then(result => decide(index, result)) : decide(index, verdict)
  }
  const decide = (index: number, verdict: ReservationVerdict): ChatSelection | Promise<ChatSelection> => {
    const candidate = candidates[index] as Candidate
    const refusal = refusalOfAmounts(verdict)
    if (refusal !== undefined) {
      refusals.push(refusal)
      if (index + 1 === candidates.length && candidates.length < mostCandidates) {
        const fitting = findFittingOutput(refusals, ordinary, (...each) => amountsOf(needs, ...each))
        if (fitting !== undefined) candidates.push({ ...fitting, isCapped: !isCuttable(selection) })
      }
      if (index + 1 < candidates.length) return tryCandidate(index + 1)
    }
    acceptReservation(ctx, deps, verdict)
    return toSelection(needs, shrink(ctx, needs, verdict as Reservation, candidate, candidates[index + 1]))
  }
  return tryCandidate(0)
}

/** Whether a provider adds input from what it stores. Items by their ids go to targets of the body's own format only. */
function buildsOnStored({ parsed: { findings }, source, targets }: ChatSelection): boolean {
  const { storedStatePaths, storedReasoning = [], itemsById = [] } = findings
  if (storedStatePaths.length > 0) return true
  const isNamed = storedReasoning.length > 0 || itemsById.length > 0
  return isNamed && targets.some(({ format }) => format.id === source.format)
}

/**
 * Lists candidates for all targets first, then for ever fewer of the expensive ones; for each list the maximum, then
 * the usual output.
 */
function listCandidates(
  ctx: IdentifiedContext,
  selection: ChatSelection,
  keepsWhole: boolean,
  deps: PipelineDeps,
): Candidate[] {
  const [first] = selection.targets as readonly [ChatTarget, ...ChatTarget[]]
  const learned = deps.learned.find(ctx.caller?.keyId ?? null, first.id)
  const canCut = isCuttable(selection)
  const candidates: Candidate[] = []
  for (const targets of listNarrowed(selection.targets)) {
    const maxTokens = Math.max(...targets.map(maxOutput))
    if (keepsWhole) {
      candidates.push({ targets, output: maxTokens, isCapped: false })
      continue
    }
    if (canCut) {
      candidates.push({ targets, output: Math.min(maxTokens, learned?.p99 ?? FIRST_OUTPUT), isCapped: false })
      continue
    }
    candidates.push({ targets, output: maxTokens, isCapped: false })
    const learnedOutput = Math.min(maxTokens, learned?.max ?? SMALL_OUTPUT)
    if (learnedOutput < maxTokens) candidates.push({ targets, output: learnedOutput, isCapped: true })
  }
  return candidates
}

/** Whether the output cannot be capped, or the caller named a maximum that a budget does not allow to be lowered. */
function isKeptWhole({ parsed, targets }: ChatSelection, limits: MeterSet, isSandbox: boolean): boolean {
  if (targets.some(({ format }) => format.hasNoOutputCap === true)) return true
  if (parsed.request.maxOutputTokens === undefined) return false
  const meters = isSandbox ? limits.sandboxMeters : limits.meters
  return meters.some(({ source }) => source.onTight === 'refuse')
}

/** Returns the targets, then the list without the most expensive, and so on down to one. */
function listNarrowed(targets: readonly ChatTarget[]): (readonly ChatTarget[])[] {
  const lists = [targets]
  for (let remaining = targets; remaining.length > 1; ) {
    const prices = remaining.map(({ catalogModel }) => catalogModel?.pricing?.output ?? 0)
    const dearest = prices.lastIndexOf(Math.max(...prices))
    remaining = remaining.filter((_, index) => index !== dearest)
    lists.push(remaining)
  }
  return lists
}

/** Whether the answer is a stream that can be ended once its reservation cannot be extended. */
function isCuttable({ parsed, targets }: ChatSelection): boolean {
  return parsed.request.stream && !targets.some(mayReason)
}

/** Returns the refusal of a limit on tokens or money. */
function refusalOfAmounts(verdict: ReservationVerdict): LimitRefusal | undefined {
  if (verdict instanceof Reservation || !('refusal' in verdict)) return undefined
  const { metric } = verdict.refusal.meter
  return metric === 'tokens' || metric === 'nano_usd' ? verdict.refusal : undefined
}

/**
 * Reduces the reservation to the smaller candidate if the larger takes a large share of what is left for all requests.
 */
function shrink(
  ctx: IdentifiedContext,
  needs: ChatNeeds,
  reservation: Reservation,
  candidate: Candidate,
  smaller: Candidate | undefined,
): Candidate {
  if (smaller?.targets !== candidate.targets || !takesLargeShare(reservation)) return candidate
  const shrinking = reservation.extend(amountsOf(needs, smaller.targets, smaller.output))
  if (shrinking instanceof Promise)
    shrinking.catch(error => ctx.fail(error, 'the reduction of a reservation'))
  return smaller
}

function takesLargeShare({ meterStatuses, amounts }: Reservation): boolean {
  return meterStatuses.some(({ meter, settled, reserved }) => {
    if (meter.metric !== 'tokens' && meter.metric !== 'nano_usd') return false
    const own = meter.metric === 'tokens' ? amounts.tokens : amounts.nanoUsd
    return own > (meter.limit - settled - reserved + own) * LARGE_SHARE
  })
}

function amountsOf(needs: ChatNeeds, targets: readonly ChatTarget[], output: number): Amounts {
  return toReservedAmounts(toPricedTargets(needs, targets), {
    ...needs.reserved,
    output: output * needs.choices,
  })
}

function toSelection(needs: ChatNeeds, { targets, output, isCapped }: Candidate): ChatSelection {
  const { selection, input, reserved, choices } = needs
  const { alias, isStream, parsed, source } = selection
  return {
    alias,
    isStream,
    parsed,
    source,
    targets: targets.map(target => capTarget(target, isCapped ? output : undefined, needs)),
    reserved: {
      inputTokens: input,
      outputTokens: output * choices,
      maxOutputTokens: choices * Math.max(...targets.map(maxOutput)),
      isCapped,
      toAmounts: toAmountsOf(toPricedTargets(needs, targets), reserved),
    },
  }
}

function toPricedTargets({ imageTokens }: ChatNeeds, targets: readonly ChatTarget[]): PricedTarget[] {
  return targets.map(target => {
    const { catalogModel, hosted } = target
    return { catalogModel, hosted, imageTokens: imageTokens.get(target) ?? 0 }
  })
}

/** A function of its own: a stream keeps what it returns, which must not hold the targets' requests. */
function toAmountsOf(targets: readonly PricedTarget[], input: ReservedInput): (output: number) => Amounts {
  return output => toReservedAmounts(targets, { ...input, output })
}

/**
 * Returns the target with `output` as its cap. Without one, the cap is the model's maximum where the provider might otherwise exceed it. Never
 * raises the caller's own cap.
 */
function capTarget(
  target: ChatTarget,
  output: number | undefined,
  { selection: { source }, counted }: ChatNeeds,
): ChatTarget {
  const { request, format } = target
  if (format.hasNoOutputCap === true || (output === undefined && keepsMaximum(target, counted))) return target
  const cap = Math.min(output ?? Number.POSITIVE_INFINITY, maxOutput(target))
  if (request.maxOutputTokens !== undefined && request.maxOutputTokens <= cap) return target
  return withOutputCap(target, cap, source)
}
