import { insertModelAlias, MODEL_ALIAS_NAME_CONSTRAINT } from '../../storage/models/model-aliases.ts'
import { newRecord, ownerColumns } from '../operation/new-record.ts'
import { defineOperation } from '../operation/operation.ts'
import { orConflict } from '../operation/or-conflict.ts'
import { NewModelAlias, toTargetsJson } from './alias-body.ts'
import { toWrittenAlias, WrittenAliasResource } from './alias-warnings.ts'

export const createAlias = defineOperation('POST /v1/environments/{envId}/model-aliases', {
  name: 'model_aliases.create',
  summary:
    'Creates a name in the environment for one of several models. It takes precedence over a model with the same bare name. Targets that cannot be used yet are accepted with a warning.',
  access: { role: 'developer', of: 'environment' },
  body: NewModelAlias,
  response: { 201: WrittenAliasResource },
  faults: ['resource_conflict'],
  handle: async ({ services, resource, body }) => {
    const stored = insertModelAlias(services.db, {
      ...newRecord(services),
      ...ownerColumns(resource),
      alias: body.alias,
      strategy: body.strategy,
      targets: toTargetsJson(body.targets),
    })
    const row = await orConflict(stored, MODEL_ALIAS_NAME_CONSTRAINT, 'alias')
    return await toWrittenAlias(services.db, resource, row)
  },
})
