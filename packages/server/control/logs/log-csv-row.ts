import { toUsd } from '@rideau/llm/usage/money'
import type { ListedRequestLogRow } from '../../storage/records/request-log-list.ts'
import { z } from '../operation/zod.ts'

export const MAX_CSV_ROWS = 50_000

/** A request as a line of CSV: a cell for each field, under the names of the log. */
export const LogCsvRow = z.strictObject({
  created_at: z.string(),
  request_id: z.string(),
  status: z.int(),
  error_code: z.string().nullable(),
  endpoint: z.string(),
  surface: z.string(),
  stream: z.boolean(),
  sandbox: z.boolean(),
  model_requested: z.string().nullable(),
  provider: z.string().nullable(),
  model: z.string().nullable(),
  key_id: z.string().nullable(),
  end_user_id: z.string().nullable(),
  user: z.string().nullable(),
  finish_reason: z.string().nullable(),
  input_tokens: z.int(),
  cached_tokens: z.int(),
  cache_write_tokens: z.int(),
  output_tokens: z.int(),
  reasoning_tokens: z.int(),
  usage_estimated: z.boolean(),
  cost_usd: z.number().nullable(),
  attempts: z.int(),
  queue_ms: z.number(),
  first_byte_ms: z.number().nullable(),
  total_ms: z.number(),
  metadata: z.string().nullable(),
})

export function toLogCsvRow(row: ListedRequestLogRow): z.output<typeof LogCsvRow> {
  return {
    created_at: row.at.toISOString(),
    request_id: row.request_id,
    status: row.status,
    error_code: row.error_code,
    endpoint: row.endpoint,
    surface: row.surface,
    stream: row.stream,
    sandbox: row.sandbox,
    model_requested: row.model_requested,
    provider: row.provider,
    model: row.model,
    key_id: row.key_id,
    end_user_id: row.end_user_id,
    user: row.user,
    finish_reason: row.finish_reason,
    input_tokens: row.uncached_input_tokens + row.cache_read_tokens + row.cache_write_tokens,
    cached_tokens: row.cache_read_tokens,
    cache_write_tokens: row.cache_write_tokens,
    output_tokens: row.output_tokens + row.reasoning_tokens,
    reasoning_tokens: row.reasoning_tokens,
    usage_estimated: row.usage_estimated,
    cost_usd: toUsd(row.cost_nano_usd),
    attempts: row.attempts.length,
    queue_ms: row.queue_ms,
    first_byte_ms: row.first_byte_ms,
    total_ms: row.total_ms,
    metadata: row.metadata === null ? null : JSON.stringify(row.metadata),
  }
}
