import { listProviderCredentials } from '../../storage/models/provider-credentials.ts'
import { defineOperation } from '../operation/operation.ts'
import { listOf, loadPage, pageQuery } from '../operation/pagination.ts'
import { z } from '../operation/zod.ts'
import { CredentialResource, toCredentialResource } from './credential-resource.ts'

export const listProjectCredentials = defineOperation('GET /v1/projects/{projectId}/provider-credentials', {
  name: 'provider_credentials.list_in_project',
  summary: "The provider credentials of both of a project's environments, newest first.",
  access: { role: 'viewer', of: 'project' },
  query: z.strictObject(pageQuery),
  response: { 200: listOf(CredentialResource) },
  handle: ({ services, resource, query }) =>
    loadPage(
      query,
      ['provider_credentials.list_in_project', resource.id],
      page => listProviderCredentials(services.db, { column: 'project_id', id: resource.id }, page),
      toCredentialResource,
    ),
})
