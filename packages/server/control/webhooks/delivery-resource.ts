import type { WebhookDeliveryRow } from '../../storage/event-tables.ts'
import { dateTime, toDateTime, uuid } from '../operation/fields.ts'
import { z } from '../operation/zod.ts'

export const WebhookDeliveryResource = z
  .strictObject({
    id: uuid.meta({ description: 'The `webhook-id` of every attempt.' }),
    webhook_id: uuid,
    event: z.string().meta({ description: '`webhook.test` for a test.' }),
    state: z.enum(['pending', 'delivered', 'failed']).meta({
      description: '`pending`: an attempt runs or follows. `failed`: it was given up.',
    }),
    attempts: z.int().meta({ description: 'Attempts that were started.' }),
    next_attempt_at: dateTime.nullable(),
    delivered_at: dateTime.nullable(),
    failure: z.string().nullable().meta({ description: 'Why the last attempt failed.' }),
    created_at: dateTime,
  })
  .meta({ id: 'WebhookDelivery' })

export function toWebhookDeliveryResource(row: WebhookDeliveryRow): z.output<typeof WebhookDeliveryResource> {
  const isEnded = row.next_attempt_at === null
  return {
    id: row.id,
    webhook_id: row.webhook_id,
    event: row.event,
    state: row.delivered_at !== null ? 'delivered' : isEnded ? 'failed' : 'pending',
    attempts: row.attempts,
    next_attempt_at: toDateTime(row.next_attempt_at),
    delivered_at: toDateTime(row.delivered_at),
    failure: row.failure,
    created_at: row.created_at.toISOString(),
  }
}
