import { Fault } from '../../core/fault.ts'
import { insertTestDelivery } from '../../storage/events/webhook-deliveries.ts'
import { defineOperation } from '../operation/operation.ts'
import { toWebhookDeliveryResource, WebhookDeliveryResource } from './delivery-resource.ts'

export const testWebhook = defineOperation('POST /v1/webhooks/{id}/test', {
  name: 'webhooks.test',
  summary:
    "Queues an event `webhook.test` for a webhook's address, signed like every other. One test at a time: 409 while the last one is pending.",
  access: { role: 'admin', of: 'webhook' },
  response: { 201: WebhookDeliveryResource },
  faults: ['resource_conflict'],
  handle: async ({ services, resource }) => {
    const { db, newId, clock } = services
    const delivery = await insertTestDelivery(db, resource, { id: newId(), at: clock.now() })
    if (delivery === undefined) {
      throw new Fault('resource_conflict', 'The last test of this webhook is not over yet.')
    }
    return toWebhookDeliveryResource(delivery)
  },
})
