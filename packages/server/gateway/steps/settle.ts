import { inspect } from 'node:util'
import type { CatalogModel } from '@rideau/llm/spec'
import { cacheWriteTokens } from '@rideau/llm/usage-sums'
import type { Fault } from '../../core/fault.ts'
import type { FaultCode } from '../../core/fault-table.ts'
import type { RequestRecord } from '../../core/request-record.ts'
import { addBills, type Bill, FREE } from '../bill.ts'
import type { ResolvedTarget } from '../call-plan.ts'
import type { GatewayDeps } from '../deps.ts'
import type { Exchange } from '../exchange.ts'
import { cutBody } from '../transcript.ts'
import { endAdmission } from './end-admission.ts'

/** What an exchange came to; anything absent was never reached. */
export interface Outcome {
  readonly status: number
  readonly fault?: Fault
  readonly bill?: Bill
  readonly finishReason?: string
  /** Why we ended a whole answer early: the record's error code, though the caller got its 200. */
  readonly cutBy?: FaultCode | undefined
  /** For an environment that captures in full. */
  readonly responseBody?: string | undefined
}

/** What the steps learned on the way, for the record. Filled as far as the exchange got. */
export interface Facts {
  modelRequested: string | null
  provider: string | null
  model: string | null
  catalogModel: CatalogModel | undefined
  isSandbox: boolean
  isStream: boolean
  metadata: Record<string, string> | null
  requestBody: Buffer | undefined
  /** What is owed to the provider that answered, should the answer fail on our side. */
  answered: Bill | undefined
}

export function noFacts(): Facts {
  return {
    modelRequested: null,
    provider: null,
    model: null,
    catalogModel: undefined,
    isSandbox: false,
    isStream: false,
    metadata: null,
    requestBody: undefined,
    answered: undefined,
  }
}

/** The record names the target that was tried last. */
export function noteTarget(facts: Facts, { provider, id, catalogModel }: ResolvedTarget): void {
  facts.provider = provider.id
  facts.model = id
  facts.catalogModel = catalogModel
  facts.isSandbox = provider.sandbox === true
}

/**
 * Writes the one record of an exchange, before its last byte goes out: whoever got an answer is in the journal.
 * Nothing where no environment was reached, since nobody could read it.
 */
export function settle(x: Exchange, facts: Facts, outcome: Outcome, deps: GatewayDeps): void {
  const { caller, environment } = x
  if (caller === undefined || environment === undefined || x.isSettled) return
  x.isSettled = true
  // The sandbox's price is none where somebody has to be paid.
  const isSandbox = facts.isSandbox && !x.isLostReal
  const own = facts.isSandbox && !isSandbox ? FREE : (outcome.bill ?? facts.answered ?? FREE)
  const { usage, isEstimated, costNanoUsd } = addBills(x.lost, own)
  const capture = environment.logCapture === 'full'
  const hold = x.admission !== undefined && x.admission.hold.tokens > 0 ? x.admission.hold : undefined
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
    status: outcome.status,
    error_code: outcome.fault?.code ?? outcome.cutBy ?? null,
    finish_reason: outcome.finishReason ?? null,
    queue_ms: elapsed(x, x.calledAt) ?? elapsed(x, performance.now()) ?? 0,
    first_byte_ms: elapsed(x, x.firstByteAt),
    total_ms: elapsed(x, performance.now()) ?? 0,
    uncached_input_tokens: usage.uncachedInput,
    cache_read_tokens: usage.cacheRead,
    cache_write_tokens: cacheWriteTokens(usage),
    output_tokens: usage.output,
    reasoning_tokens: usage.reasoning,
    usage_estimated: isEstimated,
    cost_nano_usd: costNanoUsd,
    hold_tokens: hold === undefined ? null : hold.tokens,
    hold_nano_usd: hold === undefined ? null : hold.nanoUsd,
    sandbox: isSandbox,
    attempts: x.attempts,
    metadata: facts.metadata,
    request_body:
      capture && facts.requestBody !== undefined ? cutBody(facts.requestBody.toString('utf8')) : null,
    response_body: capture && outcome.responseBody !== undefined ? cutBody(outcome.responseBody) : null,
  }
  try {
    deps.writeRecord(record)
  } finally {
    // Also where the journal refuses it: what was used stays used.
    endAdmission(x, record, deps)
  }
  if (outcome.fault?.code === 'internal_error') {
    deps.log.error(
      { requestId: x.requestId, err: inspect(outcome.fault.cause) },
      'a request failed on our side',
    )
  }
}

/** Milliseconds since arrival, to a hundredth. */
function elapsed(x: Exchange, at: number | undefined): number | null {
  return at === undefined ? null : Math.round((at - x.startedAt) * 100) / 100
}
