import { listProviderCredentials } from '../../storage/models/provider-credentials.ts'
import { defineOperation } from '../operation/operation.ts'
import { listOf, loadPage, pageQuery } from '../operation/pagination.ts'
import { z } from '../operation/zod.ts'
import { CredentialResource, toCredentialResource } from './credential-resource.ts'

export const listCredentials = defineOperation('GET /v1/environments/{envId}/provider-credentials', {
  name: 'provider_credentials.list',
  summary: "An environment's provider credentials, newest first.",
  access: { role: 'viewer', of: 'environment' },
  query: z.strictObject(pageQuery),
  response: { 200: listOf(CredentialResource) },
  handle: ({ services, resource, query }) =>
    loadPage(
      query,
      ['provider_credentials.list', resource.id],
      page => listProviderCredentials(services.db, { column: 'environment_id', id: resource.id }, page),
      toCredentialResource,
    ),
})
