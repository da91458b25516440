import { defineOperation } from '../operation/operation.ts'
import { orNotFound } from '../operation/or-not-found.ts'
import { FederatedAuthResource } from './federated-auth-resource.ts'
import { NO_FEDERATED_AUTH, readFederatedAuth } from './read-federated-auth.ts'

export const getFederatedAuth = defineOperation('GET /v1/projects/{projectId}/federated-auth', {
  name: 'federated_auth.get',
  summary: "A project's identity provider; 404 if none is set.",
  access: { role: 'viewer', of: 'project' },
  response: { 200: FederatedAuthResource },
  handle: async ({ services, resource }) =>
    orNotFound(await readFederatedAuth(services, resource.id), NO_FEDERATED_AUTH),
})
