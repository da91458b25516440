import { toUsd } from '@rideau/llm/usage/money'
import { toLatencyQuantile } from '../../core/records/latency-histogram.ts'
import { parseCounts, type UsageRow } from '../../storage/usage/usage.ts'
import { dateTime, uuid } from '../operation/fields.ts'
import { z } from '../operation/zod.ts'

const FIRST_BYTE = 'The time to the first byte of streams; null: there were none.'

export const UsageResource = z
  .strictObject({
    bucket: dateTime,
    // Present if `group_by` names the field, and null if the requests have no value for it.
    model: z.string().nullable().optional(),
    provider: z.string().nullable().optional(),
    key_id: uuid.nullable().optional(),
    end_user_id: z.string().nullable().optional(),
    environment_id: uuid.nullable().optional(),
    project_id: uuid.nullable().optional(),
    other: z
      .literal(true)
      .nullable()
      .meta({ description: 'True: the sum of the groups that `top` leaves out.' }),
    /** True for the sandbox provider, whose prices are fictitious and not part of the organization's spend. */
    sandbox: z.boolean(),
    requests: z.int(),
    errors: z.int(),
    input_tokens: z.int(),
    output_tokens: z.int(),
    cached_tokens: z.int(),
    reasoning_tokens: z.int().meta({ description: 'Part of `output_tokens`.' }),
    /** The sum for requests with a known price; null if no request has one. */
    cost_usd: z.number().nullable(),
    unpriced_requests: z.int(),
    latency_ms_p50: z.number().nullable(),
    latency_ms_p95: z.number().nullable(),
    first_byte_ms_p50: z.number().nullable().meta({ description: FIRST_BYTE }),
    first_byte_ms_p95: z.number().nullable().meta({ description: FIRST_BYTE }),
  })
  .meta({ id: 'Usage' })

/** `isSpend`: the costs are the organization's spend, which excludes the sandbox. */
export function toUsageResource(row: UsageRow, isSpend: boolean): z.output<typeof UsageResource> {
  const [latencies, firstBytes] = [parseCounts(row.latencies), parseCounts(row.firstBytes)]
  const isPriced = row.requests > row.unpriced
  return {
    bucket: row.bucket.toISOString(),
    ...row.groups,
    other: row.isRest ? true : null,
    sandbox: row.sandbox,
    requests: row.requests,
    errors: row.errors,
    input_tokens: row.inputTokens,
    output_tokens: row.outputTokens,
    cached_tokens: row.cachedTokens,
    reasoning_tokens: row.reasoningTokens,
    cost_usd: isSpend && row.sandbox ? 0 : toUsd(isPriced ? row.costNanoUsd : null),
    unpriced_requests: row.unpriced,
    latency_ms_p50: toLatencyQuantile(latencies, 0.5),
    latency_ms_p95: toLatencyQuantile(latencies, 0.95),
    first_byte_ms_p50: toLatencyQuantile(firstBytes, 0.5),
    first_byte_ms_p95: toLatencyQuantile(firstBytes, 0.95),
  }
}
