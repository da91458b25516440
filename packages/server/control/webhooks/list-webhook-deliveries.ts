import { listWebhookDeliveries as loadDeliveries } from '../../storage/events/webhook-deliveries.ts'
import { defineOperation } from '../operation/operation.ts'
import { listOf, loadPage, pageQuery } from '../operation/pagination.ts'
import { z } from '../operation/zod.ts'
import { toWebhookDeliveryResource, WebhookDeliveryResource } from './delivery-resource.ts'

export const listWebhookDeliveries = defineOperation('GET /v1/webhooks/{id}/deliveries', {
  name: 'webhooks.list_deliveries',
  summary: "A webhook's deliveries of the last 30 days, newest first.",
  access: { role: 'viewer', of: 'webhook' },
  query: z.strictObject(pageQuery),
  response: { 200: listOf(WebhookDeliveryResource) },
  handle: ({ services, resource, query }) =>
    loadPage(
      query,
      ['webhooks.list_deliveries', resource.id],
      page => loadDeliveries(services.db, resource.id, page),
      toWebhookDeliveryResource,
    ),
})
