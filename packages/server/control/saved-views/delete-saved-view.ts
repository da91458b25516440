import { removeSavedView } from '../../storage/tenancy/saved-views.ts'
import { defineOperation } from '../operation/operation.ts'

export const deleteSavedView = defineOperation('DELETE /v1/session/views/{viewId}', {
  name: 'session.delete_view',
  summary: "Removes one of the caller's own saved views, if it is there.",
  access: 'session',
  // As for saving it.
  audit: 'none',
  handle: ({ services, actor, params }) => removeSavedView(services.db, actor.id, params.viewId),
})
