import type { RequestRecord } from '../../core/records/request-record.ts'
import type { IdentifiedContext } from '../request/request-context.ts'
import { toStorableAmount } from './storable-amounts.ts'
import { toCheckedLimits } from './to-checked-limits.ts'

/** Returns the record of a request before its outcome is known: its owner, its parameters and its reservation. */
export function startRecord(ctx: IdentifiedContext): RequestRecord {
  const { caller, environment, recordFields } = ctx
  const amounts =
    ctx.reservation !== undefined && ctx.reservation.amounts.tokens > 0 ? ctx.reservation.amounts : undefined
  return {
    id: ctx.id,
    at: new Date(ctx.arrivedAt).toISOString(),
    request_id: ctx.requestId,
    org_id: environment.orgId,
    project_id: environment.projectId,
    environment_id: environment.id,
    key_id: caller.keyId,
    end_user_id: ctx.endUser?.id ?? null,
    endpoint: ctx.route.endpoint,
    surface: ctx.route.mount.name,
    model_requested: recordFields.modelRequested,
    user: recordFields.user,
    provider: recordFields.provider,
    model: recordFields.model,
    stream: recordFields.isStream,
    status: 0,
    error_code: null,
    provider_message: null,
    finish_reason: null,
    queue_ms: 0,
    first_byte_ms: null,
    total_ms: 0,
    uncached_input_tokens: 0,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    output_tokens: 0,
    reasoning_tokens: 0,
    usage_estimated: false,
    cost_nano_usd: null,
    hold_tokens: toStorableAmount(amounts?.tokens ?? null),
    hold_nano_usd: toStorableAmount(amounts?.nanoUsd ?? null),
    output_cap: recordFields.outputCap,
    sandbox: recordFields.isSandbox,
    attempts: [],
    metadata: recordFields.metadata,
    dropped_params: recordFields.droppedParams,
    checked_limits: toCheckedLimits(ctx.reservation, ctx.refusal),
    request_body: null,
    response_body: null,
  }
}
