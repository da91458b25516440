import type { RequestRecord } from '../../core/request-record.ts'
import type { HeldOutput } from '../chat-plan.ts'
import type { GatewayDeps } from '../deps.ts'
import type { Exchange } from '../exchange.ts'
import type { Facts } from './settle.ts'

/**
 * Journals what a request that holds tokens or money will count as if this process is killed while it runs: what it
 * holds, as an estimate. Others need no such line: nothing that is limited depends on them.
 */
export function openRecord(x: Exchange, facts: Facts, held: HeldOutput, deps: GatewayDeps): void {
  const { caller, environment } = x
  if (caller === undefined || environment === undefined) return
  const record: RequestRecord = {
    id: x.id,
    at: new Date(x.arrivedAt).toISOString(),
    request_id: x.requestId,
    org_id: environment.orgId,
    project_id: environment.projectId,
    environment_id: environment.id,
    key_id: caller.keyId,
    end_user_id: x.endUser?.id ?? null,
    endpoint: x.route.endpoint,
    surface: x.route.surface,
    model_requested: facts.modelRequested,
    provider: facts.provider,
    model: facts.model,
    stream: facts.isStream,
    status: 502,
    error_code: 'stream_interrupted',
    finish_reason: null,
    queue_ms: 0,
    first_byte_ms: null,
    total_ms: 0,
    uncached_input_tokens: held.inputTokens,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    output_tokens: held.outputTokens,
    reasoning_tokens: 0,
    usage_estimated: true,
    cost_nano_usd: x.admission?.hold.nanoUsd ?? null,
    hold_tokens: x.admission?.hold.tokens ?? null,
    hold_nano_usd: x.admission?.hold.nanoUsd ?? null,
    sandbox: facts.isSandbox,
    attempts: [],
    metadata: facts.metadata,
    request_body: null,
    response_body: null,
  }
  deps.openRecord(record)
}
