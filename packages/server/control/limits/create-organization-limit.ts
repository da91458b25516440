import { insertLimit } from '../../storage/limits.ts'
import { defineOperation } from '../operation/operation.ts'
import { NewLimit, parseLimit } from './limit-body.ts'
import { LimitResource, toLimitResource } from './limit-resource.ts'
import { toLimitRow } from './new-limit.ts'

export const createOrganizationLimit = defineOperation({
  name: 'limits.create_in_organization',
  summary: 'A rate limit on an organization, or on a project, an environment or a key of it.',
  method: 'POST',
  path: '/v1/orgs/{orgId}/limits',
  access: { role: 'admin', of: 'org' },
  body: NewLimit,
  response: { 201: LimitResource },
  handle: async ({ services, resource, body }) => {
    const owner = { org_id: resource.id, project_id: null, environment_id: null }
    const row = toLimitRow(services, owner, await parseLimit(services.db, owner, body))
    return toLimitResource(await insertLimit(services.db, row))
  },
})
