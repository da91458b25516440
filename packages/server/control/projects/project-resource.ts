import type { ProjectRow } from '../../storage/schema.ts'
import { stamps, toStamps, uuid } from '../operation/fields.ts'
import { storedFields } from '../operation/stored-fields.ts'
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
  return { ...storedFields(ProjectResource, row), ...toStamps(row) }
}
