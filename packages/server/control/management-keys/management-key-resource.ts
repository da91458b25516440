import type { ManagementKeyRow } from '../../storage/schema.ts'
import { dateTime, stamps, toDateTime, toStamps, uuid } from '../operation/fields.ts'
import { storedFields } from '../operation/stored-fields.ts'
import { z } from '../operation/zod.ts'

const fields = {
  id: uuid,
  org_id: uuid,
  name: z.string(),
  role: z.enum(['admin', 'developer', 'viewer']),
  prefix_display: z.string(),
  expires_at: dateTime.nullable(),
  revoked_at: dateTime.nullable(),
  last_used_at: dateTime.nullable(),
  ...stamps,
}

export const ManagementKeyResource = z.strictObject(fields).meta({ id: 'ManagementKey' })

/** Returned at creation only: the plaintext is shown once. */
export const NewManagementKeyResource = z
  .strictObject({ ...fields, key: z.string() })
  .meta({ id: 'NewManagementKey' })

export function toManagementKeyResource(row: ManagementKeyRow): z.output<typeof ManagementKeyResource> {
  return {
    ...storedFields(ManagementKeyResource, row),
    expires_at: toDateTime(row.expires_at),
    revoked_at: toDateTime(row.revoked_at),
    last_used_at: toDateTime(row.last_used_at),
    ...toStamps(row),
  }
}
