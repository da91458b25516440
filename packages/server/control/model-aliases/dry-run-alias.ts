import { findModel } from '@rideau/llm/providers/catalog'
import { modelDirectory } from '@rideau/llm/providers/model-directory'
import { explainAlias } from '../../core/explain-alias.ts'
import { FAULTS, type FaultCode } from '../../core/fault-table.ts'
import { findEnvironmentModels } from '../../storage/environment-models.ts'
import { findEnvironment } from '../../storage/environments.ts'
import { toAlias } from '../../storage/model-snapshots.ts'
import { capabilityField } from '../operation/capability-field.ts'
import { defineOperation } from '../operation/operation.ts'
import { orGone } from '../operation/or-gone.ts'
import { z } from '../operation/zod.ts'
import { AliasResource } from './alias-resource.ts'

const Question = z
  .strictObject({
    capabilities: z
      .array(capabilityField)
      .max(10)
      .nullish()
      .meta({ description: 'What the request would ask of a model; chat where absent.' }),
  })
  .optional()
  .meta({ id: 'ModelAliasQuestion' })

const DryRun = z
  .strictObject({
    alias: z.string(),
    strategy: AliasResource.shape.strategy,
    serves: z.string().nullable().meta({
      description:
        'Which target would be tried first, null where none can serve. Under `weighted` the likeliest; under `lowest_latency` the first in the list, since what was measured is known to each gateway alone.',
    }),
    targets: z.array(
      z.strictObject({
        model: z.string(),
        resolved: z.string().nullable().meta({ description: '`provider/model`, where it stands for one.' }),
        usable: z.boolean(),
        reason: z
          .enum(Object.keys(FAULTS) as [FaultCode, ...FaultCode[]])
          .nullable()
          .meta({ description: 'The code that stands against it; null where it is usable.' }),
        message: z.string(),
        share: z
          .number()
          .nullable()
          .meta({ description: 'Under `weighted`, of the first tries: 0.25 is every fourth.' }),
      }),
    ),
  })
  .meta({ id: 'ModelAliasDryRun' })

export const dryRunAlias = defineOperation({
  name: 'model_aliases.dry_run',
  summary: 'Which target would serve a request by this alias now, and why the others would or would not.',
  method: 'POST',
  path: '/v1/model-aliases/{id}/dry-run',
  access: { role: 'viewer', of: 'model_alias' },
  body: Question,
  response: { 200: DryRun },
  audit: 'none',
  handle: async ({ services, resource, body }) => {
    const environment = orGone(await findEnvironment(services.db, resource.environment_id))
    const needs = (body?.capabilities ?? ['chat']).map(capability => ({ capability, param: 'model' }))
    const surroundings = await findEnvironmentModels(services.db, environment)
    const { serves, targets } = explainAlias(
      toAlias(resource),
      needs,
      surroundings,
      modelDirectory,
      findModel,
    )
    return {
      alias: resource.alias,
      strategy: resource.strategy,
      serves,
      targets: targets.map(({ model, id, isUsable, code, message, share }) => ({
        model,
        resolved: id,
        usable: isUsable,
        reason: code,
        message,
        share,
      })),
    }
  },
})
