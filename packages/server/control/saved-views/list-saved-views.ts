import { listSavedViews as loadSavedViews } from '../../storage/tenancy/saved-views.ts'
import { uuidField } from '../operation/fields.ts'
import { defineOperation } from '../operation/operation.ts'
import { cutInOrder, listOf, wholeListQuery } from '../operation/pagination.ts'
import { z } from '../operation/zod.ts'
import { SavedViewResource, toSavedViewResource } from './saved-view-resource.ts'

export const listSavedViews = defineOperation('GET /v1/session/views', {
  name: 'session.list_views',
  summary: "The caller's own saved views of the dashboard's pages, by page and name.",
  access: 'session',
  query: z.strictObject({
    ...wholeListQuery,
    environment_id: uuidField
      .optional()
      .meta({ description: 'Only those of this environment. Without it at most 500 are listed.' }),
  }),
  response: { 200: listOf(SavedViewResource) },
  handle: async ({ services, actor, query }) => {
    const { environment_id } = query
    const views = (await loadSavedViews(services.db, actor.id, environment_id)).map(toSavedViewResource)
    return cutInOrder(query, ['session.list_views', actor.id, environment_id ?? null], views, view => view.id)
  },
})
