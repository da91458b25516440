import { toBaseUrl, toFixedHost } from '@rideau/llm/upstream/base-address'
import type { Target } from '@rideau/llm/upstream/target'
import type { RequestTrace } from '../../core/records/tracer.ts'
import type { Credential } from '../../core/tenancy/tenancy.ts'
import { addBills } from '../billing/bill.ts'
import type { RequestContext } from '../request/request-context.ts'
import type { ResolvedTarget } from '../targets/target-selection.ts'
import type { AttemptDeps } from './attempt-deps.ts'
import type { AttemptResult } from './attempt-result.ts'
import { attemptWithToken } from './attempt-with-token.ts'
import { redactModel, redactSecrets } from './redact-secrets.ts'

export type Attempt<P, T> = (target: Target, resolved: P) => Promise<AttemptResult<T>>

/**
 * Makes one attempt and adds it to the request's record and trace. The error that it returns contains no secret of the
 * credential.
 */
export async function makeAttempt<P extends ResolvedTarget, T>(
  ctx: RequestContext,
  resolved: P,
  credential: Credential,
  attempt: Attempt<P, T>,
  deps: AttemptDeps,
): Promise<AttemptResult<T>> {
  const { provider, model } = resolved
  const began = performance.now()
  const traceparent = ctx.trace === undefined ? undefined : startSpan(ctx, ctx.trace, resolved, credential)
  const result = await attemptWithToken(
    ctx,
    credential.id,
    {
      provider,
      model,
      baseUrl: toBaseUrl(provider, credential.baseUrl, credential.options),
      apiKey: credential.apiKey,
      options: credential.options,
      maxOutputTokens: resolved.catalogModel?.max_output_tokens ?? undefined,
      traceparent,
    },
    target => attempt(target, resolved),
    deps,
  )
  const abandoned = result.ok ? undefined : result.bill
  const record = {
    provider: provider.id,
    model,
    credential_id: credential.id,
    status: result.ok ? result.status : (result.error.status ?? null),
    error: result.ok ? null : result.error.kind,
    start_ms: Math.round((began - ctx.startedAt) * 10) / 10,
    ms: Math.round((performance.now() - began) * 10) / 10,
    ...(abandoned === undefined ? {} : { cost_nano_usd: abandoned.costNanoUsd }),
  }
  ctx.attempts.push(record)
  ctx.trace?.endAttempt(
    record,
    abandoned?.usage,
    result.ok ? redactModel(result.model, credential) : undefined,
  )
  if (abandoned !== undefined) {
    ctx.abandoned = addBills(ctx.abandoned, abandoned)
    if (provider.sandbox !== true) ctx.isAbandonedReal = true
  }
  return result.ok ? result : { ...result, error: redactSecrets(result.error, credential) }
}

/** Returns the `traceparent` for the provider. */
function startSpan(
  { route, recordFields }: RequestContext,
  trace: RequestTrace,
  { provider, model }: ResolvedTarget,
  credential: Credential,
): string | undefined {
  const isPublic = credential.baseUrl === null && provider.sandbox !== true
  return trace.startAttempt({
    operation: route.endpoint,
    provider: provider.telemetryName ?? provider.id,
    model,
    credentialId: credential.id,
    isStream: recordFields.isStream,
    host: isPublic ? toFixedHost(provider) : undefined,
  })
}
