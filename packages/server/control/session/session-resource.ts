import { ROLES } from '../../core/access/permissions.ts'
import type { UserRow } from '../../storage/schema.ts'
import { listMemberships, type Membership } from '../../storage/users/members.ts'
import { uuid } from '../operation/fields.ts'
import type { Services } from '../operation/operation.ts'
import { z } from '../operation/zod.ts'

export const SessionResource = z
  .strictObject({
    user: z.strictObject({ id: uuid, email: z.string(), name: z.string().nullable() }),
    memberships: z.array(
      z.strictObject({
        id: uuid,
        role: z.enum(ROLES),
        organization: z.strictObject({ id: uuid, name: z.string(), slug: z.string() }),
      }),
    ),
  })
  .meta({ id: 'Session', description: 'The signed-in user.' })

export async function loadSessionResource(
  services: Services,
  user: UserRow,
): Promise<z.output<typeof SessionResource>> {
  const memberships = await listMemberships(services.wholeDb, user.id)
  return {
    user: { id: user.id, email: user.email, name: user.name },
    memberships: memberships.map(toMembership),
  }
}

function toMembership(row: Membership): z.output<typeof SessionResource>['memberships'][number] {
  const organization = { id: row.org_id, name: row.org_name, slug: row.org_slug }
  return { id: row.id, role: row.role, organization }
}
