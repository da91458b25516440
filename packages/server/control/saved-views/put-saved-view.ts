import { Fault } from '../../core/fault.ts'
import { findEnvironment } from '../../storage/tenancy/environments.ts'
import { MAX_SAVED_VIEWS, putSavedView as storeSavedView } from '../../storage/tenancy/saved-views.ts'
import { textField, uuidField } from '../operation/fields.ts'
import { noResource } from '../operation/granted-access.ts'
import { defineOperation } from '../operation/operation.ts'
import { z } from '../operation/zod.ts'
import { SavedViewResource, toSavedViewResource, VIEW_PAGES } from './saved-view-resource.ts'

const NewSavedView = z
  .strictObject({
    environment_id: uuidField,
    page: z.enum(VIEW_PAGES),
    name: textField(100),
    search: z
      .string()
      .max(2000, { abort: true })
      .regex(/^[\x21-\x7e]*$/, 'must be an encoded query of an address'),
  })
  .meta({ id: 'NewSavedView' })

export const putSavedView = defineOperation('PUT /v1/session/views/{viewId}', {
  name: 'session.put_view',
  summary: `Saves a view under an id of the caller's choice, in place of an earlier one. Up to ${MAX_SAVED_VIEWS} in an environment.`,
  access: 'session',
  body: NewSavedView,
  response: { 200: SavedViewResource },
  faults: ['resource_not_found', 'resource_conflict'],
  // A view changes nothing but what its user sees.
  audit: 'none',
  handle: async ({ services: { db, clock }, actor, params, body }) => {
    const environment = await findEnvironment(db, body.environment_id)
    if (environment === undefined) throw noResource()
    const now = new Date(clock.now())
    const { id: environment_id, org_id } = environment
    const stamps = { created_at: now, updated_at: now }
    const row = await storeSavedView(db, {
      ...body,
      ...stamps,
      id: params.viewId,
      user_id: actor.id,
      org_id,
      environment_id,
    })
    if (row !== undefined) return toSavedViewResource(row)
    const message = `There are ${MAX_SAVED_VIEWS} views already, or this id is one of another environment.`
    throw new Fault('resource_conflict', message)
  },
})
