import { removeFederatedAuth } from '../../storage/federated-auth.ts'
import { defineOperation } from '../operation/operation.ts'
import { orGone } from '../operation/or-gone.ts'
import { z } from '../operation/zod.ts'
import { readFederatedAuth } from './read-federated-auth.ts'

export const deleteFederatedAuth = defineOperation({
  name: 'federated_auth.delete',
  summary: "Removes a project's identity provider: its tokens are no longer accepted.",
  method: 'DELETE',
  path: '/v1/projects/{projectId}/federated-auth',
  access: { role: 'admin', of: 'project' },
  response: { 204: z.undefined() },
  before: ({ services, resource }) => readFederatedAuth(services, resource.id),
  handle: async ({ services, resource }) => {
    orGone(await removeFederatedAuth(services.db, resource.id))
  },
})
