import { hasLiveOrganization } from '../live-owner.ts'
import { defineTable } from '../table.ts'

const webhooks = defineTable('webhooks', hasLiveOrganization)

export const { insert: insertWebhook, find: findWebhook } = webhooks
/** `removeWebhook` removes the deliveries too. */
export const { update: updateWebhook, remove: removeWebhook } = webhooks
export const listWebhooks = webhooks.listBy('org_id')
