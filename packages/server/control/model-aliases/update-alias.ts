import { updateModelAlias } from '../../storage/model-aliases.ts'
import { defineOperation } from '../operation/operation.ts'
import { orGone } from '../operation/or-gone.ts'
import { ModelAliasChanges, toTargetsJson } from './alias-body.ts'
import { AliasResource, toAliasResource } from './alias-resource.ts'

export const updateAlias = defineOperation('PATCH /v1/model-aliases/{id}', {
  name: 'model_aliases.update',
  summary:
    'Changes the strategy or targets of an alias; its name cannot change. `targets` replaces the whole list.',
  access: { role: 'developer', of: 'model_alias' },
  body: ModelAliasChanges,
  response: { 200: AliasResource },
  handle: async ({ services, resource, body: { strategy, targets } }) => {
    const change = {
      ...(strategy === undefined ? {} : { strategy }),
      ...(targets === undefined ? {} : { targets: toTargetsJson(targets) }),
    }
    const now = new Date(services.clock.now())
    return toAliasResource(orGone(await updateModelAlias(services.db, resource.id, change, now)))
  },
})
