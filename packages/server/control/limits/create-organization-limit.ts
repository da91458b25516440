import { insertLimit } from '../../storage/policies/limits.ts'
import { newRecord } from '../operation/new-record.ts'
import { defineOperation } from '../operation/operation.ts'
import { NewLimit, parseLimit } from './limit-body.ts'
import { completeLimit, LimitResource, toLimitResource } from './limit-resource.ts'
import { measureLimit } from './measure-limits.ts'

export const createOrganizationLimit = defineOperation('POST /v1/orgs/{orgId}/limits', {
  name: 'limits.create_in_organization',
  summary: 'Creates a rate limit for an organization, or for one of its projects, environments or keys.',
  access: { role: 'admin', of: 'org' },
  body: NewLimit,
  response: { 201: LimitResource },
  handle: async ({ services, resource, body }) => {
    const owner = { org_id: resource.id, project_id: null, environment_id: null }
    const fields = await parseLimit(services.db, owner, body)
    const row = await insertLimit(services.db, { ...newRecord(services), ...owner, ...fields })
    return toLimitResource(await measureLimit(services, row))
  },
  complete: completeLimit,
})
