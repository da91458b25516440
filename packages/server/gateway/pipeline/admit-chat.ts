import type { MeterSet } from '../../core/list-meters.ts'
import type { Amounts } from '../../ledger/ledger.ts'
import { countInput, countMostInput } from '../billing/count-input.ts'
import { Admission, type AdmissionVerdict } from '../limits/admission.ts'
import type { ChatPlan, PlannedTarget } from '../plan/chat-plan.ts'
import { mayReason, mostOutput, toHold } from '../plan/held-amounts.ts'
import type { RequestContext } from '../request/request-context.ts'
import { accept, admit, isSandboxOnly, tryAdmit } from './admit.ts'
import type { PipelineDeps } from './pipeline-deps.ts'

/** A stream begins with this much output held where nothing was learned: it is extended as it goes. */
const FIRST_OUTPUT = 1_024
/** An answer that cannot be cut is held at this much where its true maximum does not fit and nothing was learned. */
const SMALL_OUTPUT = 4_096
/** A hold of more than this part of what is left of a limit would keep out others that hold little. */
const GREEDY = 1 / 8

/** What could be held: less from one to the next. */
interface Offer {
  readonly targets: readonly PlannedTarget[]
  /** Output tokens of one choice. */
  readonly output: number
  /** Asked of the target as its cap, since nothing else keeps it to what is held. */
  readonly isCapped: boolean
}

interface ChatAsk {
  readonly plan: ChatPlan
  readonly limits: MeterSet
  /** What is billed of its input where no usage comes, and what is held of it. */
  readonly input: number
  readonly mostInput: number
  readonly choices: number
  readonly isSandbox: boolean
  readonly mayWriteCache: boolean
}

/**
 * Holds what a chat request may use. A stream holds what its kind is known to use and is extended as it goes; what
 * cannot be cut holds its true maximum, or as much as it is known to use and is then asked for no more than that.
 * Gives the plan with those caps. Source: contract.md §3 "finish_reason may be length where a budget binds".
 */
export function admitChat(
  ctx: RequestContext,
  plan: ChatPlan,
  limits: MeterSet,
  deps: PipelineDeps,
): ChatPlan | Promise<ChatPlan> {
  const isSandbox = isSandboxOnly(plan)
  if (!limits.hasAmountMeter) {
    const admitting = admit(ctx, deps, { limits, isSandbox, hold: { tokens: 0, nanoUsd: 0 } })
    return admitting === undefined ? plan : admitting.then(() => plan)
  }
  const ask: ChatAsk = {
    plan,
    limits,
    input: countInput(plan.call.request),
    mostInput: countMostInput(plan.call.request),
    choices: plan.call.findings.choices,
    isSandbox,
    mayWriteCache: plan.call.findings.asksForCaching,
  }
  const offers = listOffers(ctx, plan, deps)
  const make = (index: number): ChatPlan | Promise<ChatPlan> => {
    const offer = offers[index] as Offer
    const verdict = tryAdmit(ctx, deps, { limits, isSandbox, hold: holdOf(ask, offer.targets, offer.output) })
    return verdict instanceof Promise ? verdict.then(each => decide(index, each)) : decide(index, verdict)
  }
  const decide = (index: number, verdict: AdmissionVerdict): ChatPlan | Promise<ChatPlan> => {
    if (index + 1 < offers.length && lacksAmounts(verdict)) return make(index + 1)
    accept(ctx, deps, verdict)
    return toPlan(ask, shrink(ctx, ask, verdict as Admission, offers[index] as Offer, offers[index + 1]))
  }
  return make(0)
}

/** First for all targets, then for ever fewer of the dear ones; each as large as it may become, then smaller. */
function listOffers(ctx: RequestContext, plan: ChatPlan, deps: PipelineDeps): Offer[] {
  const [first] = plan.targets as readonly [PlannedTarget, ...PlannedTarget[]]
  const learned = deps.learned.find(ctx.caller?.keyId ?? null, first.id)
  const isCuttable = plan.call.request.stream && !plan.targets.some(mayReason)
  const offers: Offer[] = []
  for (const targets of narrowed(plan.targets)) {
    const mosts = targets.map(mostOutput)
    const most = Math.max(...mosts.map(({ tokens }) => tokens))
    if (isCuttable) {
      offers.push({ targets, output: Math.min(most, learned?.usual ?? FIRST_OUTPUT), isCapped: false })
      continue
    }
    offers.push({ targets, output: most, isCapped: mosts.some(({ isKept }) => !isKept) })
    const usual = Math.min(most, learned?.most ?? SMALL_OUTPUT)
    if (usual < most) offers.push({ targets, output: usual, isCapped: true })
  }
  return offers
}

/** The plan's targets, then without the dearest, and so on down to one. */
function narrowed(targets: readonly PlannedTarget[]): (readonly PlannedTarget[])[] {
  const lists = [targets]
  for (let left = targets; left.length > 1; ) {
    const prices = left.map(({ catalogModel }) => catalogModel?.pricing?.output ?? 0)
    const dearest = prices.lastIndexOf(Math.max(...prices))
    left = left.filter((_, index) => index !== dearest)
    lists.push(left)
  }
  return lists
}

function lacksAmounts(verdict: AdmissionVerdict): boolean {
  if (verdict instanceof Admission || !('refusal' in verdict)) return false
  const { metric } = verdict.refusal.meter
  return metric === 'tokens' || metric === 'nano_usd'
}

/** What is learned to be plenty is enough where more would take much of what is left for all. */
function shrink(
  ctx: RequestContext,
  ask: ChatAsk,
  admission: Admission,
  offer: Offer,
  smaller: Offer | undefined,
): Offer {
  if (smaller?.targets !== offer.targets || !isGreedy(admission)) return offer
  const shrinking = admission.extend(holdOf(ask, smaller.targets, smaller.output))
  if (shrinking instanceof Promise) shrinking.catch(error => ctx.fail(error, 'the reservation'))
  return smaller
}

function isGreedy({ standings, hold }: Admission): boolean {
  return standings.some(({ meter, settled, reserved }) => {
    if (meter.metric !== 'tokens' && meter.metric !== 'nano_usd') return false
    const own = meter.metric === 'tokens' ? hold.tokens : hold.nanoUsd
    return own > (meter.limit - settled - reserved + own) * GREEDY
  })
}

function holdOf(ask: ChatAsk, targets: readonly PlannedTarget[], output: number): Amounts {
  const { mostInput, choices, mayWriteCache } = ask
  return toHold(targets, { input: mostInput, output: output * choices, mayWriteCache })
}

function toPlan(ask: ChatAsk, { targets, output, isCapped }: Offer): ChatPlan {
  const { plan, input, mostInput, choices } = ask
  const { alias, isStream, call, source } = plan
  return {
    alias,
    isStream,
    call,
    source,
    targets: isCapped ? targets.map(target => capped(target, output)) : targets,
    held: {
      inputTokens: input,
      outputTokens: output * choices,
      mostOutputTokens: choices * Math.max(...targets.map(target => mostOutput(target).tokens)),
      isCapped,
      toAmounts: total =>
        toHold(targets, { input: mostInput, output: total, mayWriteCache: ask.mayWriteCache }),
    },
  }
}

function capped(target: PlannedTarget, output: number): PlannedTarget {
  const { request } = target
  const cap = Math.min(output, mostOutput(target).tokens)
  if (request.maxOutputTokens !== undefined && request.maxOutputTokens <= cap) return target
  return { ...target, request: { ...request, maxOutputTokens: cap } }
}
