import { toUsd } from '@rideau/llm/usage/money'
import { toLatencyQuantile } from '../../core/latency-histogram.ts'
import type { UsageRow } from '../../storage/usage.ts'
import { dateTime, uuid } from '../operation/fields.ts'
import { z } from '../operation/zod.ts'

export const UsageResource = z
  .strictObject({
    bucket: dateTime,
    // A field of what `group_by` names, null where the requests have none; the others are absent.
    model: z.string().nullable().optional(),
    provider: z.string().nullable().optional(),
    key_id: uuid.nullable().optional(),
    end_user_id: z.string().nullable().optional(),
    environment_id: uuid.nullable().optional(),
    /** Of the sandbox provider, whose prices are fictional and no spend of the organization. */
    sandbox: z.boolean(),
    requests: z.int(),
    errors: z.int(),
    input_tokens: z.int(),
    output_tokens: z.int(),
    cached_tokens: z.int(),
    /** Of the requests whose price is known; null where it is of none. */
    cost_usd: z.number().nullable(),
    unpriced_requests: z.int(),
    latency_ms_p50: z.number().nullable(),
    latency_ms_p95: z.number().nullable(),
  })
  .meta({ id: 'Usage' })

/** `isSpend`: the costs are the organization's, to which the sandbox adds nothing. */
export function toUsageResource(row: UsageRow, isSpend: boolean): z.output<typeof UsageResource> {
  const isPriced = row.requests > row.unpriced
  return {
    bucket: row.bucket.toISOString(),
    ...row.groups,
    sandbox: row.sandbox,
    requests: row.requests,
    errors: row.errors,
    input_tokens: row.inputTokens,
    output_tokens: row.outputTokens,
    cached_tokens: row.cachedTokens,
    cost_usd: isSpend && row.sandbox ? 0 : toUsd(isPriced ? row.costNanoUsd : null),
    unpriced_requests: row.unpriced,
    latency_ms_p50: toLatencyQuantile(row.latencies, 0.5),
    latency_ms_p95: toLatencyQuantile(row.latencies, 0.95),
  }
}
