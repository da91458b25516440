import { ROLES } from '../../core/access/permissions.ts'
import type { MemberWithUserRow } from '../../storage/users/members.ts'
import { dateTime, stamps, toDateTime, toStamps, uuid } from '../operation/fields.ts'
import { storedFields } from '../operation/stored-fields.ts'
import { z } from '../operation/zod.ts'

const fields = {
  id: uuid,
  org_id: uuid,
  // null: invited, but not yet a member.
  user: z.strictObject({ id: uuid, email: z.string(), name: z.string().nullable() }).nullable(),
  role: z.enum(ROLES),
  invite_email: z.string().nullable(),
  invited_by: uuid.nullable().meta({
    description:
      'The user who invited. Where a management key did, the user who created the key, or the id of the key if that is unknown. null: nobody did.',
  }),
  accepted_at: dateTime.nullable(),
  ...stamps,
}

export const MemberResource = z.strictObject(fields).meta({ id: 'Member' })

/** Returned at the invitation only: whoever has the link may join with the address. */
export const InvitedMemberResource = z
  .strictObject({ ...fields, accept_url: z.string() })
  .meta({ id: 'InvitedMember' })

export function toMemberResource(row: MemberWithUserRow): z.output<typeof MemberResource> {
  const { user_id, user_email, user_name } = row
  return {
    ...storedFields(MemberResource, row),
    user:
      user_id === null || user_email === null ? null : { id: user_id, email: user_email, name: user_name },
    accepted_at: toDateTime(row.accepted_at),
    ...toStamps(row),
  }
}
