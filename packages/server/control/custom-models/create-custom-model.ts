import { CUSTOM_MODEL_NAME_CONSTRAINT, insertCustomModel } from '../../storage/models/custom-models.ts'
import { assertRole } from '../operation/assert-role.ts'
import { newRecord, ownerColumns } from '../operation/new-record.ts'
import { defineOperation } from '../operation/operation.ts'
import { orConflict } from '../operation/or-conflict.ts'
import { assertModelName, hasListPrice, NewCustomModel, toPricingJson } from './custom-model-body.ts'
import { CustomModelResource, toCustomModelResource } from './custom-model-resource.ts'

export const createCustomModel = defineOperation('POST /v1/environments/{envId}/custom-models', {
  name: 'custom_models.create',
  summary:
    "Adds a model that the catalogue lacks, or replaces the catalogue's record in this environment. Setting or replacing a price needs the role admin.",
  access: { role: 'developer', of: 'environment' },
  body: NewCustomModel,
  response: { 201: CustomModelResource },
  faults: ['resource_conflict'],
  authorize: async ({ role, body }) => {
    assertModelName(body.model)
    if (hasListPrice(body.model) || body.pricing != null) assertRole(role, 'admin')
  },
  handle: async ({ services, resource, body }) => {
    const stored = insertCustomModel(services.db, {
      ...newRecord(services),
      ...ownerColumns(resource),
      model: body.model,
      capabilities: [...new Set(body.capabilities)],
      context_window: body.context_window ?? null,
      max_output_tokens: body.max_output_tokens ?? null,
      pricing: toPricingJson(body.pricing ?? null),
    })
    return toCustomModelResource(await orConflict(stored, CUSTOM_MODEL_NAME_CONSTRAINT, 'model'))
  },
})
