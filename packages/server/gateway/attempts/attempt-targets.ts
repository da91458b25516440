import type { UpstreamError, UpstreamErrorKind } from '@rideau/llm/upstream/upstream-error'
import type { Bill } from '@rideau/llm/usage/bill'
import { inputTokens, outputTokens } from '@rideau/llm/usage/usage-sums'
import { findRest } from '../../core/attempts/credential-rest.ts'
import { failureEvidence } from '../../core/attempts/failure-evidence.ts'
import { isMissingState } from '../../core/attempts/missing-state.ts'
import {
  backoffMs,
  isOfCredential,
  LAST_START_MS,
  MAX_ALL_ATTEMPTS,
  mayFallBack,
  type NextStep,
  nextStep,
  nextStepWithin,
} from '../../core/attempts/retry.ts'
import { toUpstreamFault } from '../../core/attempts/upstream-fault.ts'
import { randomShare } from '../../core/random-share.ts'
import type { IdentifiedContext, RequestContext } from '../request/request-context.ts'
import { latencyKey, type ResolvedTarget, type TargetSelection } from '../targets/target-selection.ts'
import type { AttemptDeps } from './attempt-deps.ts'
import type { AttemptResult } from './attempt-result.ts'
import type { Circuits } from './circuits.ts'
import { type Attempt, makeAttempt } from './make-attempt.ts'
import { TargetCursor } from './target-cursor.ts'

/** Timeout of one attempt in milliseconds, if neither the caller nor the alias names one. */
const DEFAULT_TIMEOUT_MS = 300_000

/**
 * Attempts the selection's targets, each with its credentials, until one answers. Retries and fallbacks share one limit on
 * attempts; a target's own `max_retries` is beyond it. Throws the fault that the last error maps to. `circuits`: undefined if
 * the calls are not the ones that circuits are for.
 */
export async function attemptTargets<P extends ResolvedTarget, T>(
  ctx: IdentifiedContext,
  deps: AttemptDeps,
  selection: TargetSelection<P>,
  attempt: Attempt<P, T>,
  circuits: Circuits | undefined,
): Promise<T> {
  if (ctx.reservation === undefined) throw new Error('a provider was called without a reservation')
  const cursor = new TargetCursor(ctx, selection, circuits, deps)
  const starting = cursor.start()
  if (starting !== undefined) await starting
  ctx.firstAttemptAt = performance.now()
  const buildsOnStored = refersToStoredState(selection)
  /** The last failure of an account that may have known what others do not. */
  let unanswered: UpstreamError | undefined
  for (;;) {
    assertNotStopped(ctx, cursor)
    cursor.countAttempt()
    let result: AttemptResult<T>
    try {
      result = await makeAttempt(ctx, cursor.target, cursor.credential, attempt, deps)
    } catch (error) {
      // A body that must not be sent shows nothing of the target.
      cursor.noteFailure('none')
      throw error
    }
    if (circuits !== undefined) countAttempt(ctx, selection, cursor.target, result, deps)
    if (selection.alias?.strategy === 'lowest_latency')
      noteLatency(ctx, selection, cursor.target, result, deps)
    if (result.ok) {
      cursor.noteSuccess()
      return result.value
    }
    assertNotStopped(ctx, cursor)
    const { error } = result
    noteFailure(ctx, cursor, result)
    logFailure(ctx, cursor.target, error, deps)
    if (error.kind === 'auth' || error.kind === 'quota') {
      deps.onCredentialRejected(cursor.credential, error.kind)
    }
    const isMissing = buildsOnStored && isMissingState(error)
    if (PASSING.has(error.kind)) unanswered = error
    const step = isMissing ? chooseAccount(ctx, cursor, error) : chooseStep(ctx, cursor, error)
    if (result.isAdjusted === true && !isTooLate(ctx, cursor)) {
      cursor.repeatAdjusted()
      continue
    }
    if (step === 'stop' || (result.bill !== undefined && !(await canAffordRetry(ctx, result.bill))))
      throw toUpstreamFault(isMissing ? (unanswered ?? error) : error, ctx.caller)
    if (step === 'same') {
      cursor.repeat()
      await delay(ctx, backoffMs(cursor.attempts, error.retryAfterMs, randomShare(deps.random)))
    } else {
      const moving = cursor.advance(step)
      if (moving !== undefined) await moving
    }
  }
}

/** Throws if the request was stopped. What it was about to learn of the target as a probe is left to another request. */
function assertNotStopped(ctx: RequestContext, cursor: TargetCursor<ResolvedTarget>): void {
  if (ctx.stopped === undefined) return
  cursor.noteFailure('none')
  throw ctx.stopped
}

function noteFailure(
  ctx: RequestContext,
  cursor: TargetCursor<ResolvedTarget>,
  { error, charge }: AttemptResult<unknown> & { ok: false },
): void {
  const timeoutMs = cursor.target.alias?.timeoutMs ?? DEFAULT_TIMEOUT_MS
  const ms = ctx.attempts.at(-1)?.ms ?? 0
  cursor.noteFailure(failureEvidence({ error, isSent: charge !== undefined, ms, timeoutMs }))
  const rest = findRest(error, cursor.target.credentials.length === 1)
  if (rest !== undefined) cursor.noteRest(rest)
}

/** Failures after which the same account may answer later. */
const PASSING: ReadonlySet<UpstreamErrorKind> = new Set([
  'rate_limited',
  'overloaded',
  'unavailable',
  'timeout',
  'interrupted',
])

/** Whether the request refers to what one account at its provider stores. */
function refersToStoredState({ parsed }: TargetSelection<ResolvedTarget>): boolean {
  if (parsed === undefined) return false
  const { storedStatePaths, storedReasoning } = parsed.findings
  return storedStatePaths.length > 0 || (storedReasoning !== undefined && storedReasoning.length > 0)
}

/**
 * Returns what to do after an account did not know what the request refers to: the same as after a refused credential, and a
 * credential that was passed over may be of the account that knows it.
 */
function chooseAccount(
  ctx: RequestContext,
  cursor: TargetCursor<ResolvedTarget>,
  error: UpstreamError,
): NextStep | 'passed' {
  const step = chooseStep(ctx, cursor, { ...error, kind: 'auth' })
  return step === 'stop' && cursor.mayReturn && !isTooLate(ctx, cursor) ? 'passed' : step
}

function isTooLate(ctx: RequestContext, { attempts }: TargetCursor<ResolvedTarget>): boolean {
  return performance.now() - (ctx.firstAttemptAt ?? 0) > LAST_START_MS || attempts >= MAX_ALL_ATTEMPTS
}

/** Returns what to do after a failed attempt. Targets whose circuit is open come last, and one of them at most. */
function chooseStep(
  ctx: RequestContext,
  cursor: TargetCursor<ResolvedTarget>,
  error: UpstreamError,
): NextStep {
  const { kind, retryAfterMs, shouldRetry, isFinal } = error
  if (isFinal === true || isTooLate(ctx, cursor)) return 'stop'
  const { retriesLeft, hasCredential } = cursor
  if (retriesLeft !== undefined) {
    const { hasTarget } = cursor
    // Other requests have shown meanwhile that its retries would fail.
    const retries = cursor.isOpen && hasTarget && !hasCredential ? 0 : retriesLeft
    const step = nextStepWithin(kind, {
      retriesLeft: retries,
      hasCredential,
      hasTarget,
      retryAfterMs,
      shouldRetry,
    })
    return step === 'stop' && mayFallBack(kind) && cursor.hasLastTarget ? 'target' : step
  }
  const hasOther = hasCredential || cursor.hasTarget
  const isNextTarget = hasOther && !hasCredential
  const options = { hasOther, isNextTarget, retryAfterMs, shouldRetry, retries: cursor.mayRepeat }
  if (isOfCredential(kind) && hasCredential) cursor.forgive()
  const step = nextStep(kind, cursor.sharedAttempts, options)
  if (step !== 'stop' || !cursor.hasLastResort) return step
  const last = { ...options, hasOther: true, isNextTarget: !cursor.hasLaterCredential, retries: false }
  return nextStep(kind, cursor.sharedAttempts, last)
}

/**
 * Reserves as much again for another attempt, since a charged attempt has used up what was reserved for it. Returns
 * false if a limit does not allow it.
 */
async function canAffordRetry(
  { reservation }: RequestContext,
  { usage, costNanoUsd }: Bill,
): Promise<boolean> {
  // Nothing is reserved: no limit of tokens or money applies to the request.
  if (reservation === undefined || (reservation.amounts.tokens === 0 && reservation.amounts.nanoUsd === 0))
    return true
  const tokens = inputTokens(usage) + outputTokens(usage)
  const verdict = await reservation.chargeAbandoned({ tokens, nanoUsd: costNanoUsd ?? 0 })
  return verdict.isAdmitted
}

/**
 * Errors that the request itself causes. Every target would fail alike, so they do not count as a failure of the
 * target.
 */
const CALLERS_OWN: ReadonlySet<UpstreamErrorKind> = new Set([
  'bad_request',
  'context_length',
  'content_filter',
])

/** Records the latency: of a stream until its first event, of a plain answer until its last byte. */
function noteLatency(
  ctx: RequestContext,
  selection: TargetSelection<ResolvedTarget>,
  target: ResolvedTarget,
  result: AttemptResult<unknown>,
  deps: AttemptDeps,
): void {
  if (ctx.stopped !== undefined) return
  const { id = '', orgId = '' } = ctx.environment ?? {}
  const key = latencyKey(id, target.id, selection.isStream)
  if (result.ok) deps.latencies.note(orgId, key, ctx.attempts.at(-1)?.ms ?? 0)
  else if (!CALLERS_OWN.has(result.error.kind)) deps.latencies.noteFailure(orgId, key)
}

function countAttempt(
  ctx: RequestContext,
  { isStream }: TargetSelection<ResolvedTarget>,
  { provider }: ResolvedTarget,
  result: AttemptResult<unknown>,
  { providerCounts }: AttemptDeps,
): void {
  const ended = ctx.stopped === undefined ? (result.ok ? 'success' : result.error.kind) : 'canceled'
  providerCounts.noteAttempt(provider.id, ended, ctx.attempts.at(-1)?.ms ?? 0, isStream)
  if (!result.ok && result.bill !== undefined) providerCounts.noteBill(provider.id, result.bill)
}

function logFailure(
  ctx: RequestContext,
  target: ResolvedTarget,
  error: UpstreamError,
  deps: AttemptDeps,
): void {
  deps.log.warn(
    {
      requestId: ctx.requestId,
      provider: target.provider.id,
      kind: error.kind,
      status: error.status,
      detail: error.detail,
    },
    'an attempt at a provider failed',
  )
}

/** Waits for `ms` milliseconds. Rejects as soon as the request is stopped. */
function delay(ctx: RequestContext, ms: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      ctx.unwatch()
      resolve()
    }, ms)
    ctx.watch(undefined, fault => {
      clearTimeout(timer)
      reject(fault)
    })
  })
}
