import type { Attributes } from '@opentelemetry/api'
import type { Usage } from '@rideau/llm/usage/usage'
import { cacheWriteTokens, inputTokens, outputTokens } from '@rideau/llm/usage/usage-sums'
import type { RequestRecord } from '../core/records/request-record.ts'
import type { TracedAttempt, TracedRequest } from '../core/records/tracer.ts'

/**
 * Names by OpenTelemetry's semantic conventions 1.45 (http, gen_ai, error, server), and `rideau.` for what they have no name for.
 * No attribute has content, a key, a token, an end user or an address that a tenant configured. An attribute that is undefined is
 * left out.
 */

const NANO_USD = 1e9

export function toRequestAttributes(request: TracedRequest): Attributes {
  return {
    'http.request.method': request.method,
    'http.route': request.route,
    'rideau.organization.id': request.orgId,
    'rideau.project.id': request.projectId,
    'rideau.environment.id': request.environmentId,
    'rideau.caller.kind': request.callerKind,
    'rideau.key.id': request.keyId ?? undefined,
  }
}

export function toAttemptAttributes(attempt: TracedAttempt): Attributes {
  return {
    'gen_ai.operation.name': attempt.operation,
    'gen_ai.provider.name': attempt.provider,
    'gen_ai.request.model': attempt.model,
    'gen_ai.request.stream': attempt.isStream ? true : undefined,
    'server.address': attempt.host,
    'rideau.credential.id': attempt.credentialId,
  }
}

/** Input includes what was read from and written to the cache; output includes reasoning. */
export function toUsageAttributes(usage: Usage, isEstimated: boolean): Attributes {
  return {
    'gen_ai.usage.input_tokens': inputTokens(usage),
    'gen_ai.usage.output_tokens': outputTokens(usage),
    'gen_ai.usage.cache_read.input_tokens': usage.cacheRead,
    'gen_ai.usage.cache_creation.input_tokens': cacheWriteTokens(usage),
    'gen_ai.usage.reasoning.output_tokens': usage.reasoning,
    'rideau.usage.estimated': isEstimated ? true : undefined,
  }
}

/** What the request reserved, or the limit that refused it. */
export function toReserveAttributes(record: RequestRecord, isAdmitted: boolean): Attributes {
  if (isAdmitted) {
    return {
      'rideau.reserved.tokens': record.hold_tokens ?? undefined,
      'rideau.reserved.usd': record.hold_nano_usd === null ? undefined : record.hold_nano_usd / NANO_USD,
    }
  }
  const refusal = record.checked_limits?.find(({ refused }) => refused !== undefined)
  return {
    'error.type': record.error_code ?? undefined,
    'rideau.limit.id': refusal?.id,
    'rideau.limit.kind': refusal?.kind,
    'rideau.limit.scope': refusal?.scope,
    'rideau.limit.metric': refusal?.metric,
  }
}

export function toRecordAttributes({ model_requested, cost_nano_usd }: RequestRecord): Attributes {
  return {
    'rideau.model.requested': model_requested ?? undefined,
    'rideau.cost.usd': cost_nano_usd === null ? undefined : cost_nano_usd / NANO_USD,
  }
}
