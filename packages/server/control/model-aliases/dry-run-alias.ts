import type { Capability } from '@rideau/llm/provider/catalog-model'
import { findModel } from '@rideau/llm/providers/catalog'
import { modelDirectory } from '@rideau/llm/providers/model-directory'
import { FAULTS, type FaultCode } from '../../core/fault-table.ts'
import { explainAlias } from '../../core/models/explain-alias.ts'
import { getEnvironmentModels } from '../../storage/models/environment-models.ts'
import type { Db } from '../../storage/pool.ts'
import type { EnvironmentRow } from '../../storage/schema.ts'
import { toAlias } from '../../storage/snapshots/model-snapshots.ts'
import { findEnvironment } from '../../storage/tenancy/environments.ts'
import { defineOperation } from '../operation/operation.ts'
import { orResourceNotFound } from '../operation/or-not-found.ts'
import { z } from '../operation/zod.ts'
import { ModelAliasQuestion, NewModelAliasQuestion, toTargets } from './alias-body.ts'
import { AliasResource } from './alias-resource.ts'

const DryRun = z
  .strictObject({
    alias: z.string(),
    strategy: AliasResource.shape.strategy,
    serves: z.string().nullable().meta({
      description:
        'The target of the first attempt; null if none is usable. Under `weighted` the likeliest one; under `lowest_latency` the first in the list, since only each gateway knows its measured latencies.',
    }),
    targets: z.array(
      z.strictObject({
        model: z.string(),
        resolved: z
          .string()
          .nullable()
          .meta({ description: 'The `provider/model` that the target resolves to; null if there is none.' }),
        usable: z.boolean(),
        reason: z
          .enum(Object.keys(FAULTS) as [FaultCode, ...FaultCode[]])
          .nullable()
          .meta({ description: 'The fault of an unusable target; null for a usable one.' }),
        message: z.string(),
        share: z
          .number()
          .nullable()
          .meta({ description: 'Under `weighted`, the share of first attempts: 0.25 is every fourth.' }),
      }),
    ),
  })
  .meta({ id: 'ModelAliasDryRun' })

export const dryRunAlias = defineOperation('POST /v1/model-aliases/{id}/dry-run', {
  name: 'model_aliases.dry_run',
  summary: 'Returns which target would serve a request for this alias now, and the state of the others.',
  access: { role: 'viewer', of: 'model_alias' },
  body: ModelAliasQuestion,
  response: { 200: DryRun },
  audit: 'none',
  handle: async ({ services, resource, body }) => {
    const environment = orResourceNotFound(await findEnvironment(services.db, resource.environment_id))
    return await explain(services.db, environment, resource, body?.capabilities)
  },
})

export const dryRunNewAlias = defineOperation('POST /v1/environments/{envId}/model-aliases/dry-run', {
  name: 'model_aliases.dry_run_new',
  summary: 'Returns which of these targets would serve a request now, without storing an alias.',
  access: { role: 'viewer', of: 'environment' },
  body: NewModelAliasQuestion,
  response: { 200: DryRun },
  audit: 'none',
  handle: async ({ services, resource, body }) => {
    const { alias, strategy, targets, capabilities } = body
    const part = { alias, strategy, targets: toTargets(targets) }
    return await explain(services.db, resource, part, capabilities)
  },
})

async function explain(
  db: Db,
  environment: EnvironmentRow,
  part: Parameters<typeof toAlias>[0],
  capabilities: readonly Capability[] | null | undefined,
): Promise<z.output<typeof DryRun>> {
  const needs = (capabilities ?? ['chat']).map(capability => ({ capability, param: 'model' }))
  const surroundings = await getEnvironmentModels(db, environment)
  const { serves, targets } = explainAlias(toAlias(part), needs, surroundings, modelDirectory, findModel)
  return {
    alias: part.alias,
    strategy: part.strategy,
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
}
