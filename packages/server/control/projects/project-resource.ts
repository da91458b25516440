import type { ProjectRow } from '../../storage/schema.ts'
import { stamps, toStamps, uuid } from '../operation/fields.ts'
import { z } from '../operation/zod.ts'

export const ProjectResource = z
  .strictObject({
    id: uuid,
    org_id: uuid,
    name: z.string(),
    slug: z.string(),
    allowed_origins: z.array(z.string()),
    ...stamps,
  })
  .meta({ id: 'Project' })

export function toProjectResource(row: ProjectRow): z.output<typeof ProjectResource> {
  return {
    id: row.id,
    org_id: row.org_id,
    name: row.name,
    slug: row.slug,
    allowed_origins: row.allowed_origins,
    ...toStamps(row),
  }
}
