import type { Target, UpstreamError } from '@rideau/llm/spec'
import { backoffMs, nextStep } from '../../core/retry.ts'
import type { Credential } from '../../core/tenancy.ts'
import { toUpstreamFault } from '../../core/upstream-fault.ts'
import type { GatewayDeps } from '../deps.ts'
import type { Exchange } from '../exchange.ts'
import type { ChatPlan } from './plan-chat.ts'

/** How one try ended. */
export type AttemptResult<T> =
  | { readonly ok: true; readonly status: number; readonly value: T }
  | { readonly ok: false; readonly error: UpstreamError }

export type Attempt<T> = (target: Target) => Promise<AttemptResult<T>>

/**
 * Tries the plan's credentials until one answers: one counter over retries and fallbacks. Throws the fault that the
 * caller gets of the last error.
 */
export async function callTargets<T>(
  x: Exchange,
  deps: GatewayDeps,
  plan: ChatPlan,
  attempt: Attempt<T>,
): Promise<T> {
  const order = orderByWeight(plan.credentials, deps)
  x.calledAt = performance.now()
  for (let tries = 1, at = 0; ; tries++) {
    x.throwIfStopped()
    const credential = order[at] as Credential
    const result = await record(x, plan, credential, attempt)
    if (result.ok) return result.value
    x.throwIfStopped()
    const { error } = result
    deps.log.warn(
      {
        requestId: x.requestId,
        provider: plan.provider.id,
        kind: error.kind,
        status: error.status,
        detail: error.detail,
      },
      'a try at a provider failed',
    )
    if (error.kind === 'auth') deps.onCredentialRejected(credential.id)
    const step = nextStep(error.kind, tries, {
      hasOther: at + 1 < order.length,
      retryAfterMs: error.retryAfterMs,
      retries: plan.provider.sandbox !== true,
    })
    if (step === 'stop') throw toUpstreamFault(error)
    if (step === 'other') at++
    else await pause(x, backoffMs(tries, error.retryAfterMs, chance(deps)))
  }
}

async function record<T>(
  x: Exchange,
  plan: ChatPlan,
  credential: Credential,
  attempt: Attempt<T>,
): Promise<AttemptResult<T>> {
  const began = performance.now()
  const result = await attempt({
    provider: plan.provider,
    model: plan.model,
    baseUrl: credential.baseUrl ?? plan.provider.baseUrl ?? '',
    apiKey: credential.apiKey,
  })
  x.attempts.push({
    provider: plan.provider.id,
    model: plan.model,
    credential_id: credential.id,
    status: result.ok ? result.status : (result.error.status ?? null),
    error: result.ok ? null : result.error.kind,
    ms: Math.round((performance.now() - began) * 10) / 10,
  })
  return result
}

/** The first by chance in proportion to its weight, then the others, oldest first. */
function orderByWeight(credentials: readonly Credential[], deps: GatewayDeps): readonly Credential[] {
  if (credentials.length === 1) return credentials
  const total = credentials.reduce((sum, credential) => sum + credential.weight, 0)
  let left = chance(deps) * total
  const first = credentials.find(credential => {
    left -= credential.weight
    return left < 0
  })
  if (first === undefined) return credentials
  return [first, ...credentials.filter(credential => credential !== first)]
}

/** In [0, 1). */
function chance(deps: GatewayDeps): number {
  return deps.random.bytes(4).readUInt32BE() / 2 ** 32
}

/** Waits, unless the exchange is stopped first. */
function pause(x: Exchange, ms: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      x.onStop = undefined
      resolve()
    }, ms)
    x.onStop = fault => {
      clearTimeout(timer)
      reject(fault)
    }
  })
}
