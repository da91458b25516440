import { insertModelAlias, MODEL_ALIAS_NAME_CONSTRAINT } from '../../storage/model-aliases.ts'
import { defineOperation } from '../operation/operation.ts'
import { orConflict } from '../operation/or-conflict.ts'
import { z } from '../operation/zod.ts'
import { aliasField, aliasSettings, toTargetsJson } from './alias-body.ts'
import { AliasResource, toAliasResource } from './alias-resource.ts'

export const createAlias = defineOperation('POST /v1/environments/{envId}/model-aliases', {
  name: 'model_aliases.create',
  summary:
    'Creates a name in the environment for one of several models. It takes precedence over a model with the same bare name.',
  access: { role: 'developer', of: 'environment' },
  body: z.strictObject({ alias: aliasField, ...aliasSettings }).meta({ id: 'NewModelAlias' }),
  response: { 201: AliasResource },
  faults: ['resource_conflict'],
  handle: async ({ services, resource, body }) => {
    const now = new Date(services.clock.now())
    const stored = insertModelAlias(services.db, {
      id: services.newId(),
      org_id: resource.org_id,
      project_id: resource.project_id,
      environment_id: resource.id,
      alias: body.alias,
      strategy: body.strategy,
      targets: toTargetsJson(body.targets),
      created_at: now,
      updated_at: now,
    })
    return toAliasResource(await orConflict(stored, MODEL_ALIAS_NAME_CONSTRAINT, 'alias'))
  },
})
