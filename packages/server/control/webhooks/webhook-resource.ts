import type { WebhookRow } from '../../storage/event-tables.ts'
import { stamps, toStamps, uuid } from '../operation/fields.ts'
import { z } from '../operation/zod.ts'
import { WEBHOOK_EVENTS } from './webhook-body.ts'

const fields = {
  id: uuid,
  org_id: uuid,
  url: z.string(),
  events: z.array(z.enum(WEBHOOK_EVENTS)),
  ...stamps,
}

export const WebhookResource = z.strictObject(fields).meta({ id: 'Webhook' })

/** Returned at creation only: the secret is shown once. */
export const NewWebhookResource = z
  .strictObject({
    ...fields,
    secret: z.string().meta({ description: 'The key that signs deliveries (Standard Webhooks): `whsec_…`.' }),
  })
  .meta({ id: 'NewWebhookRecord' })

export function toWebhookResource(row: WebhookRow): z.output<typeof WebhookResource> {
  return {
    id: row.id,
    org_id: row.org_id,
    url: row.url,
    // The schema checked the list when it was written.
    events: row.events as z.output<typeof WebhookResource>['events'],
    ...toStamps(row),
  }
}
