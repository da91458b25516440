import { toBaseUrl } from '@rideau/llm/upstream/base-address'
import type { Target } from '@rideau/llm/upstream/target'
import type { UpstreamError, UpstreamErrorKind } from '@rideau/llm/upstream/upstream-error'
import { type Bill } from '@rideau/llm/usage/bill'
import { inputTokens, outputTokens } from '@rideau/llm/usage/usage-sums'
import { orderByWeight } from '../../core/order-targets.ts'
import { randomShare } from '../../core/random-share.ts'
import { backoffMs, nextStep } from '../../core/retry.ts'
import type { Credential } from '../../core/tenancy.ts'
import { toUpstreamFault } from '../../core/upstream-fault.ts'
import { addBills } from '../billing/bill.ts'
import { type CallPlan, latencyKey, type ResolvedTarget } from '../plan/call-plan.ts'
import type { RequestContext } from '../request/request-context.ts'
import type { AttemptDeps } from './attempt-deps.ts'
import type { AttemptResult } from './attempt-result.ts'
import { attemptWithToken, withoutSecret } from './attempt-with-token.ts'

export type Attempt<P, T> = (target: Target, planned: P) => Promise<AttemptResult<T>>

/**
 * Attempts the plan's targets, each with its credentials, until one answers. Retries and fallbacks share one limit on
 * attempts. Throws the fault that the last error maps to.
 */
export async function callTargets<P extends ResolvedTarget, T>(
  ctx: RequestContext,
  deps: AttemptDeps,
  plan: CallPlan<P>,
  attempt: Attempt<P, T>,
): Promise<T> {
  if (ctx.reservation === undefined) throw new Error('a provider was called without a reservation')
  const cursor = new TargetCursor(plan.targets, deps)
  ctx.calledAt = performance.now()
  for (let attempts = 1; ; attempts++) {
    ctx.throwIfStopped()
    const result = await makeAttempt(ctx, cursor.target, cursor.credential, attempt, deps)
    if (plan.alias?.strategy === 'lowest_latency') noteLatency(ctx, plan, cursor.target, result, deps)
    if (result.ok) return result.value
    ctx.throwIfStopped()
    const { error } = result
    logFailure(ctx, cursor.target, error, deps)
    if (error.kind === 'auth') deps.onCredentialRejected(cursor.credential.id)
    const step = nextStep(error.kind, attempts, {
      hasOther: cursor.hasOther,
      isNextTarget: cursor.isNextTarget,
      retryAfterMs: error.retryAfterMs,
      shouldRetry: error.shouldRetry,
      retries: cursor.mayRepeat,
    })
    if (step === 'stop' || (result.bill !== undefined && !(await canAffordRetry(ctx, result.bill))))
      throw toUpstreamFault(error)
    if (step === 'other') cursor.advance()
    else {
      cursor.repeat()
      await delay(ctx, backoffMs(attempts, error.retryAfterMs, randomShare(deps.random)))
    }
  }
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

/** The current target and credential, and whether there are others to attempt. */
class TargetCursor<P extends ResolvedTarget> {
  readonly #targets: readonly P[]
  readonly #deps: AttemptDeps
  #targetAt = 0
  #credentials: readonly Credential[]
  #credentialAt = 0
  #repeated = 0

  constructor(targets: readonly P[], deps: AttemptDeps) {
    this.#targets = targets
    this.#deps = deps
    this.#credentials = this.#spread()
  }

  get target(): P {
    return this.#targets[this.#targetAt] as P
  }

  get credential(): Credential {
    return this.#credentials[this.#credentialAt] as Credential
  }

  get hasOther(): boolean {
    return this.#hasCredential || this.#targetAt + 1 < this.#targets.length
  }

  get isNextTarget(): boolean {
    return !this.#hasCredential && this.#targetAt + 1 < this.#targets.length
  }

  get #hasCredential(): boolean {
    return this.#credentialAt + 1 < this.#credentials.length
  }

  /**
   * Whether the same target may be retried. The sandbox always answers the same, and an alias limits the retries of
   * each target.
   */
  get mayRepeat(): boolean {
    const { provider, alias } = this.target
    return provider.sandbox !== true && this.#repeated < (alias?.maxRetries ?? Number.POSITIVE_INFINITY)
  }

  repeat(): void {
    this.#repeated++
  }

  advance(): void {
    if (++this.#credentialAt < this.#credentials.length) return
    this.#targetAt++
    this.#credentialAt = 0
    this.#repeated = 0
    this.#credentials = this.#spread()
  }

  /** The credentials of the target in the order to attempt them, drawn by their weights. */
  #spread(): readonly Credential[] {
    const { credentials } = this.target
    return credentials.length === 1 ? credentials : orderByWeight(credentials, randomShare(this.#deps.random))
  }
}

async function makeAttempt<P extends ResolvedTarget, T>(
  ctx: RequestContext,
  planned: P,
  credential: Credential,
  attempt: Attempt<P, T>,
  deps: AttemptDeps,
): Promise<AttemptResult<T>> {
  const { provider, model } = planned
  const began = performance.now()
  const result = await attemptWithToken(
    ctx,
    credential.id,
    {
      provider,
      model,
      baseUrl: toBaseUrl(provider, credential.baseUrl, credential.options),
      apiKey: credential.apiKey,
      options: credential.options,
      maxOutputTokens: planned.catalogModel?.max_output_tokens ?? undefined,
    },
    target => attempt(target, planned),
    deps,
  )
  const abandoned = result.ok ? undefined : result.bill
  ctx.attempts.push({
    provider: provider.id,
    model,
    credential_id: credential.id,
    status: result.ok ? result.status : (result.error.status ?? null),
    error: result.ok ? null : result.error.kind,
    ms: Math.round((performance.now() - began) * 10) / 10,
    ...(abandoned === undefined ? {} : { cost_nano_usd: abandoned.costNanoUsd }),
  })
  if (abandoned !== undefined) {
    ctx.abandoned = addBills(ctx.abandoned, abandoned)
    if (provider.sandbox !== true) ctx.isAbandonedReal = true
  }
  return result.ok ? result : { ...result, error: withoutSecrets(result.error, credential) }
}

/** Shorter options are names of regions and versions, which are useful in the log. */
const SECRET_CHARS = 16

/** Removes the key from an error, and options that may be secret, such as a session token. */
function withoutSecrets(error: UpstreamError, { apiKey, options }: Credential): UpstreamError {
  let clean = withoutSecret(error, apiKey, '[key]')
  for (const value of Object.values(options)) {
    if (typeof value === 'string' && value.length >= SECRET_CHARS)
      clean = withoutSecret(clean, value, '[option]')
  }
  return clean
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
  plan: CallPlan<ResolvedTarget>,
  target: ResolvedTarget,
  result: AttemptResult<unknown>,
  deps: AttemptDeps,
): void {
  if (ctx.stopped !== undefined) return
  const key = latencyKey(ctx.environment?.id ?? '', target.id, plan.isStream)
  if (result.ok) deps.latencies.note(key, ctx.attempts.at(-1)?.ms ?? 0)
  else if (!CALLERS_OWN.has(result.error.kind)) deps.latencies.noteFailure(key)
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
