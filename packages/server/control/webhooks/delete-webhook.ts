import { removeWebhook } from '../../storage/webhooks.ts'
import { defineOperation } from '../operation/operation.ts'
import { z } from '../operation/zod.ts'

export const deleteWebhook = defineOperation({
  name: 'webhooks.delete',
  summary: 'Removes a webhook: no more events are sent to its address.',
  method: 'DELETE',
  path: '/v1/webhooks/{id}',
  access: { role: 'admin', of: 'webhook' },
  response: { 204: z.undefined() },
  handle: ({ services, resource }) => removeWebhook(services.db, resource.id),
})
