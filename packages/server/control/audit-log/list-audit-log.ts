import { listAuditLog as loadAuditLog } from '../../storage/events/audit-log.ts'
import { dateTimeField, textField, toDate, uuidField } from '../operation/fields.ts'
import { defineOperation } from '../operation/operation.ts'
import { listOf, loadBoundedPage, pageQuery } from '../operation/pagination.ts'
import { z } from '../operation/zod.ts'
import { AuditEntryResource, toAuditEntryResource } from './audit-entry-resource.ts'

export const listAuditLog = defineOperation('GET /v1/orgs/{orgId}/audit-log', {
  name: 'audit_log.list',
  summary: "The operations on an organization's resources with actor and client address, newest first.",
  access: { role: 'viewer', of: 'org' },
  query: z.strictObject({
    ...pageQuery,
    actor_id: uuidField.optional(),
    operation: textField(64).optional().meta({ description: 'For example `keys.create`.' }),
    resource_id: uuidField.optional(),
    from: dateTimeField.optional().meta({ description: 'Inclusive.' }),
    to: dateTimeField.optional().meta({ description: 'Exclusive.' }),
  }),
  response: { 200: listOf(AuditEntryResource) },
  handle: ({ services, resource, query }) => {
    const { limit: _limit, cursor: _cursor, ...given } = query
    const filter = {
      actorId: given.actor_id,
      operation: given.operation,
      resourceId: given.resource_id,
      from: toDate(given.from),
      to: toDate(given.to),
    }
    return loadBoundedPage(
      query,
      ['audit_log.list', resource.id, given],
      page => loadAuditLog(services.db, resource.id, filter, page),
      row => row.at,
      toAuditEntryResource,
    )
  },
})
