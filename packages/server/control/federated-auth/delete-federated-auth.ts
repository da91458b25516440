import { removeFederatedAuth } from '../../storage/end-users/federated-auth.ts'
import { defineOperation } from '../operation/operation.ts'
import { orNotFound } from '../operation/or-not-found.ts'
import { NO_FEDERATED_AUTH, readFederatedAuth } from './read-federated-auth.ts'

export const deleteFederatedAuth = defineOperation('DELETE /v1/projects/{projectId}/federated-auth', {
  name: 'federated_auth.delete',
  summary: "Removes a project's identity provider: its tokens are no longer accepted.",
  access: { role: 'admin', of: 'project' },
  before: ({ services, resource }) => readFederatedAuth(services, resource.id),
  handle: async ({ services, resource }) => {
    orNotFound(await removeFederatedAuth(services.db, resource.id), NO_FEDERATED_AUTH)
  },
})
