import { removeWebhook } from '../../storage/webhooks.ts'
import { defineOperation } from '../operation/operation.ts'
import { z } from '../operation/zod.ts'

export const deleteWebhook = defineOperation({
  name: 'webhooks.delete',
  summary: 'Sends no more events to an address.',
  method: 'DELETE',
  path: '/v1/webhooks/{id}',
  access: { role: 'admin', of: 'webhook' },
  response: { 204: z.undefined() },
  handle: ({ services, resource }) => removeWebhook(services.db, resource.id),
})
