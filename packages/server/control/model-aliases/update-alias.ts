import { updateModelAlias } from '../../storage/models/model-aliases.ts'
import { findEnvironment } from '../../storage/tenancy/environments.ts'
import { defineOperation } from '../operation/operation.ts'
import { orResourceNotFound } from '../operation/or-not-found.ts'
import { ModelAliasChanges, toTargetsJson } from './alias-body.ts'
import { toWrittenAlias, WrittenAliasResource } from './alias-warnings.ts'

export const updateAlias = defineOperation('PATCH /v1/model-aliases/{id}', {
  name: 'model_aliases.update',
  summary:
    'Changes the strategy or targets of an alias; its name cannot change. `targets` replaces the whole list.',
  access: { role: 'developer', of: 'model_alias' },
  body: ModelAliasChanges,
  response: { 200: WrittenAliasResource },
  handle: async ({ services, resource, body: { strategy, targets } }) => {
    const change = {
      ...(strategy === undefined ? {} : { strategy }),
      ...(targets === undefined ? {} : { targets: toTargetsJson(targets) }),
    }
    const now = new Date(services.clock.now())
    const row = orResourceNotFound(await updateModelAlias(services.db, resource.id, change, now))
    const environment = orResourceNotFound(await findEnvironment(services.db, row.environment_id))
    return await toWrittenAlias(services.db, environment, row)
  },
})
