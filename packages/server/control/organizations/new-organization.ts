import type { Db } from '../../storage/pool.ts'
import type { OrganizationRow } from '../../storage/schema.ts'
import { insertOrganization } from '../../storage/tenancy/organizations.ts'
import { insertMember } from '../../storage/users/members.ts'
import { newRecord } from '../operation/new-record.ts'
import type { Services } from '../operation/operation.ts'

/** Creates an organization and makes the user its owner. */
export async function createOwnedOrganization(
  db: Db,
  services: Pick<Services, 'newId' | 'clock'>,
  settings: Pick<OrganizationRow, 'id' | 'name' | 'slug' | 'time_zone'>,
  userId: string,
): Promise<OrganizationRow> {
  const record = newRecord(services)
  const organization = await insertOrganization(db, { ...record, ...settings, deleted_at: null })
  await insertMember(db, {
    ...newRecord(services),
    org_id: organization.id,
    user_id: userId,
    role: 'owner',
    invite_email: null,
    invited_by: null,
    accepted_at: record.created_at,
    invite_hash: null,
    invite_expires_at: null,
  })
  return organization
}
