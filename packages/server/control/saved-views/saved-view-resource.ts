import type { SavedViewRow } from '../../storage/event-tables.ts'
import { stamps, toStamps, uuid } from '../operation/fields.ts'
import { storedFields } from '../operation/stored-fields.ts'
import { z } from '../operation/zod.ts'

export const VIEW_PAGES = ['overview', 'logs', 'usage', 'end-users', 'keys'] as const

export const SavedViewResource = z
  .strictObject({
    id: uuid,
    environment_id: uuid,
    page: z.enum(VIEW_PAGES),
    name: z.string(),
    search: z.string().meta({ description: "The query of the page's address, such as `status=5xx`." }),
    ...stamps,
  })
  .meta({ id: 'SavedView' })

export function toSavedViewResource(row: SavedViewRow): z.output<typeof SavedViewResource> {
  // The schema checked the page when it was written.
  const page = row.page as (typeof VIEW_PAGES)[number]
  return { ...storedFields(SavedViewResource, row), page, ...toStamps(row) }
}
