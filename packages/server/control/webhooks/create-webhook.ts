import { insertWebhook } from '../../storage/events/webhooks.ts'
import { defineOperation } from '../operation/operation.ts'
import { NewWebhook, parseWebhookUrl, toEvents } from './webhook-body.ts'
import { NewWebhookResource, toWebhookResource } from './webhook-resource.ts'

/** Standard Webhooks requires 24 to 64 bytes. */
const SECRET_BYTES = 32

export const createWebhook = defineOperation('POST /v1/orgs/{orgId}/webhooks', {
  name: 'webhooks.create',
  summary: "Sends an organization's events to an address. The signing secret is in this response only.",
  access: { role: 'admin', of: 'org' },
  body: NewWebhook,
  response: { 201: NewWebhookResource },
  handle: async ({ services, resource, body }) => {
    const id = services.newId()
    const now = new Date(services.clock.now())
    const secret = `whsec_${services.random.bytes(SECRET_BYTES).toString('base64')}`
    const row = {
      id,
      org_id: resource.id,
      url: await parseWebhookUrl(body.url, services.egress, resource.id),
      events: toEvents(body.events),
      secret_cipher: services.secretBox.seal(secret, `webhooks:${id}`),
      created_at: now,
      updated_at: now,
    }
    await insertWebhook(services.db, row)
    return { ...toWebhookResource(row), secret }
  },
})
