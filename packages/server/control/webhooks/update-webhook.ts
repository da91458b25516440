import { updateWebhook as storeWebhook } from '../../storage/events/webhooks.ts'
import { defineOperation } from '../operation/operation.ts'
import { orResourceNotFound } from '../operation/or-not-found.ts'
import { parseWebhookUrl, toEvents, WebhookChange } from './webhook-body.ts'
import { toWebhookResource, WebhookResource } from './webhook-resource.ts'

export const updateWebhook = defineOperation('PATCH /v1/webhooks/{id}', {
  name: 'webhooks.update',
  summary: "Changes a webhook's address or events. Its secret stays.",
  access: { role: 'admin', of: 'webhook' },
  body: WebhookChange,
  response: { 200: WebhookResource },
  handle: async ({ services, resource, body }) => {
    const change = {
      ...(body.url === undefined
        ? {}
        : { url: await parseWebhookUrl(body.url, services.egress, resource.org_id) }),
      ...(body.events === undefined ? {} : { events: toEvents(body.events) }),
    }
    const now = new Date(services.clock.now())
    return toWebhookResource(orResourceNotFound(await storeWebhook(services.db, resource.id, change, now)))
  },
})
