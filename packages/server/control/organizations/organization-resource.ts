import type { OrganizationRow } from '../../storage/schema.ts'
import { stamps, toStamps, uuid } from '../operation/fields.ts'
import { z } from '../operation/zod.ts'

export const OrganizationResource = z
  .strictObject({ id: uuid, name: z.string(), slug: z.string(), time_zone: z.string(), ...stamps })
  .meta({ id: 'Organization' })

export function toOrganizationResource(row: OrganizationRow): z.output<typeof OrganizationResource> {
  return { id: row.id, name: row.name, slug: row.slug, time_zone: row.time_zone, ...toStamps(row) }
}
