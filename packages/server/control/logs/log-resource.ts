import { toUsd } from '@rideau/llm/usage/money'
import type { CheckedLimit } from '../../core/records/request-record.ts'
import type { ListedRequestLogRow } from '../../storage/records/request-log-list.ts'
import { dateTime, uuid } from '../operation/fields.ts'
import { z } from '../operation/zod.ts'
import { CostPart } from './explain-cost.ts'

const amounts = z.strictObject({ tokens: z.int(), cost_usd: z.number().nullable() })

const logFields = {
  /** The gateway's own id of the request; `request_id` is the X-Request-Id that the caller received. */
  id: uuid,
  request_id: uuid,
  created_at: dateTime,
  project_id: uuid,
  environment_id: uuid,
  key_id: uuid.nullable(),
  end_user_id: z.string().nullable(),
  endpoint: z.string(),
  surface: z.string(),
  model_requested: z.string().nullable(),
  provider: z.string().nullable(),
  model: z.string().nullable(),
  stream: z.boolean(),
  status: z.int(),
  error_code: z.string().nullable(),
  provider_message: z.string().nullable().meta({
    description:
      "The provider's own message where it refused the request as invalid: at most 500 characters, without keys, and null for requests of client tokens.",
  }),
  finish_reason: z.string().nullable(),
  user: z.string().nullable().meta({ description: 'The `user` that the body named. Never an identity.' }),
  queue_ms: z.number(),
  first_byte_ms: z.number().nullable(),
  total_ms: z.number(),
  // The same shape as in a chat response.
  usage: z.strictObject({
    input_tokens: z.int(),
    output_tokens: z.int(),
    total_tokens: z.int(),
    input_tokens_details: z.strictObject({ cached_tokens: z.int(), cache_write_tokens: z.int() }),
    output_tokens_details: z.strictObject({ reasoning_tokens: z.int() }),
  }),
  usage_estimated: z.boolean(),
  cost_usd: z.number().nullable(),
  // What the limits on tokens and money reserved before the call, and what was settled; null: no such limit applied.
  hold: amounts.nullable(),
  settlement: amounts.extend({ estimated: z.boolean() }).nullable(),
  output_cap: z.int().nullable().meta({
    description:
      'The output tokens of one choice that the provider was asked for at most, where a limit let the gateway ask for fewer than the caller did.',
  }),
  feedback: z
    .strictObject({
      score: z.number(),
      comment: z.string().nullable(),
      tags: z.array(z.string()),
      created_at: dateTime,
    })
    .nullable(),
  sandbox: z.boolean(),
  attempts: z.array(
    z.strictObject({
      target: z.string(),
      credential_id: z.string(),
      status: z.int().nullable(),
      error: z.string().nullable(),
      start_ms: z.number().nullable().meta({
        description: 'After the arrival of the request. Null for requests of an earlier version.',
      }),
      ms: z.number(),
      lost_cost_usd: z.number().nullable().meta({
        description:
          'What an attempt cost whose answer was lost. Null: it lost none, or its price is unknown.',
      }),
    }),
  ),
  metadata: z.record(z.string(), z.string()).nullable(),
}

export const LogResource = z.strictObject(logFields).meta({ id: 'RequestLog' })

export function toLogResource(row: ListedRequestLogRow): z.output<typeof LogResource> {
  const input = row.uncached_input_tokens + row.cache_read_tokens + row.cache_write_tokens
  const output = row.output_tokens + row.reasoning_tokens
  return {
    id: row.id,
    request_id: row.request_id,
    created_at: row.at.toISOString(),
    project_id: row.project_id,
    environment_id: row.environment_id,
    key_id: row.key_id,
    end_user_id: row.end_user_id,
    endpoint: row.endpoint,
    surface: row.surface,
    model_requested: row.model_requested,
    provider: row.provider,
    model: row.model,
    stream: row.stream,
    status: row.status,
    error_code: row.error_code,
    provider_message: row.provider_message,
    finish_reason: row.finish_reason,
    user: row.user,
    queue_ms: row.queue_ms,
    first_byte_ms: row.first_byte_ms,
    total_ms: row.total_ms,
    usage: {
      input_tokens: input,
      output_tokens: output,
      total_tokens: input + output,
      input_tokens_details: {
        cached_tokens: row.cache_read_tokens,
        cache_write_tokens: row.cache_write_tokens,
      },
      output_tokens_details: { reasoning_tokens: row.reasoning_tokens },
    },
    usage_estimated: row.usage_estimated,
    cost_usd: toUsd(row.cost_nano_usd),
    hold: row.hold_tokens === null ? null : { tokens: row.hold_tokens, cost_usd: toUsd(row.hold_nano_usd) },
    settlement:
      row.hold_tokens === null
        ? null
        : { tokens: input + output, cost_usd: toUsd(row.cost_nano_usd), estimated: row.usage_estimated },
    output_cap: row.output_cap,
    feedback: row.feedback,
    sandbox: row.sandbox,
    attempts: row.attempts.map(attempt => ({
      target: `${attempt.provider}/${attempt.model}`,
      credential_id: attempt.credential_id,
      status: attempt.status,
      error: attempt.error,
      start_ms: attempt.start_ms ?? null,
      ms: attempt.ms,
      lost_cost_usd: toUsd(attempt.cost_nano_usd ?? null),
    })),
    metadata: row.metadata,
  }
}

export const LogDetailResource = z
  .strictObject({
    ...logFields,
    cost_parts: z.array(CostPart).nullable().meta({
      description:
        "How the cost is made up by the model's prices of today; null if they do not give the recorded cost, such as after a change of prices or where a failed attempt or a hosted tool was charged.",
    }),
    dropped_params: z.array(z.string()).nullable().meta({
      description:
        'Parameters that were left out, or a `temperature` that was fitted to a smaller scale, because the target could not honour them, as `X-Rideau-Dropped-Params` names them. null: none, or a request of an earlier version.',
    }),
    checked_limits: z
      .array(
        z.strictObject({
          kind: z.enum(['limit', 'quota', 'budget', 'plan']),
          id: uuid,
          scope: z.enum(['org', 'project', 'environment', 'key', 'end_user']),
          metric: z.enum(['requests', 'tokens', 'usd', 'concurrency']),
          limit: z.number(),
          reserved: z.number().meta({ description: 'By this request.' }),
          remaining: z.number().meta({ description: "After this request's reservation." }),
          refused: z.number().nullable().meta({
            description:
              'What the limit refused: the request, of which nothing was reserved then, or more output while it ran. null: nothing.',
          }),
        }),
      )
      .nullable()
      .meta({
        description:
          'The limits that the request was checked against: of a request that a limit refused that limit only. null: none applied, the request was refused before, or it is of an earlier version.',
      }),
    bodies: z.enum(['included', 'role', 'not_captured']).meta({
      description:
        'Why bodies are absent. `role`: they need the role developer. `not_captured`: the environment kept metadata only, or there were none.',
    }),
    request_body: z.string().nullable(),
    response_body: z.string().nullable(),
  })
  .meta({ id: 'RequestLogDetail' })

const METRICS = { requests: 'requests', tokens: 'tokens', nano_usd: 'usd', in_flight: 'concurrency' } as const

export function toCheckedLimit(checked: CheckedLimit) {
  const { kind, id, scope, metric } = checked
  const shown = (amount: number): number => (metric === 'nano_usd' ? (toUsd(amount) ?? 0) : amount)
  const { limit, reserved, remaining, refused } = checked
  return {
    kind,
    id,
    scope,
    metric: METRICS[metric],
    limit: shown(limit),
    reserved: shown(reserved),
    remaining: shown(remaining),
    refused: refused === undefined ? null : shown(refused),
  }
}
