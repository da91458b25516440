import {
  CUSTOM_MODEL_NAME_CONSTRAINT,
  lockCustomModel,
  updateCustomModel as storeCustomModel,
} from '../../storage/models/custom-models.ts'
import { assertRole } from '../operation/assert-role.ts'
import { defineOperation } from '../operation/operation.ts'
import { orConflict } from '../operation/or-conflict.ts'
import { orResourceNotFound } from '../operation/or-not-found.ts'
import {
  assertModelName,
  CustomModelChanges,
  decidesPrice,
  hasListPrice,
  toPricingJson,
} from './custom-model-body.ts'
import { CustomModelResource, toCustomModelResource } from './custom-model-resource.ts'

export const updateCustomModel = defineOperation('PATCH /v1/custom-models/{id}', {
  name: 'custom_models.update',
  summary:
    "Changes an environment's record of a model. Changing a price, or the model of a record that has one or replaces the catalogue's, needs the role admin.",
  access: { role: 'developer', of: 'custom_model' },
  body: CustomModelChanges,
  response: { 200: CustomModelResource },
  faults: ['resource_conflict'],
  handle: async ({ services, resource, role, body }) => {
    const { model, capabilities, context_window, max_output_tokens, pricing } = body
    if (model !== undefined) assertModelName(model)
    // Locks the row: an administrator may set a price at this moment.
    const stored = orResourceNotFound(await lockCustomModel(services.db, resource.id))
    // Moving a price to another model sets a price there.
    const movesPrice =
      model !== undefined && model !== stored.model && (decidesPrice(stored) || hasListPrice(model))
    if (movesPrice || pricing !== undefined) assertRole(role, 'admin')
    const change = {
      ...(model === undefined ? {} : { model }),
      ...(capabilities === undefined ? {} : { capabilities: [...new Set(capabilities)] }),
      ...(context_window === undefined ? {} : { context_window }),
      ...(max_output_tokens === undefined ? {} : { max_output_tokens }),
      ...(pricing === undefined ? {} : { pricing: toPricingJson(pricing) }),
    }
    const storing = storeCustomModel(services.db, resource.id, change, new Date(services.clock.now()))
    return toCustomModelResource(
      orResourceNotFound(await orConflict(storing, CUSTOM_MODEL_NAME_CONSTRAINT, 'model')),
    )
  },
})
