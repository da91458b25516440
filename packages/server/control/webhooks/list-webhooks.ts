import { listWebhooks as loadWebhooks } from '../../storage/events/webhooks.ts'
import { defineOperation } from '../operation/operation.ts'
import { listOf, loadPage, pageQuery } from '../operation/pagination.ts'
import { z } from '../operation/zod.ts'
import { toWebhookResource, WebhookResource } from './webhook-resource.ts'

export const listWebhooks = defineOperation('GET /v1/orgs/{orgId}/webhooks', {
  name: 'webhooks.list',
  summary: "An organization's webhooks, newest first.",
  access: { role: 'viewer', of: 'org' },
  query: z.strictObject(pageQuery),
  response: { 200: listOf(WebhookResource) },
  handle: ({ services, resource, query }) =>
    loadPage(
      query,
      ['webhooks.list', resource.id],
      page => loadWebhooks(services.db, resource.id, page),
      toWebhookResource,
    ),
})
