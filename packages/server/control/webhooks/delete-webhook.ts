import { removeWebhook } from '../../storage/events/webhooks.ts'
import { defineOperation } from '../operation/operation.ts'
import { assertRemoved } from '../operation/or-not-found.ts'

export const deleteWebhook = defineOperation('DELETE /v1/webhooks/{id}', {
  name: 'webhooks.delete',
  summary: 'Removes a webhook: no more events are sent to its address.',
  access: { role: 'admin', of: 'webhook' },
  handle: async ({ services, resource }) => {
    assertRemoved(await removeWebhook(services.db, resource.id))
  },
})
