import { findModel } from '@rideau/llm/providers/catalog'
import { modelDirectory } from '@rideau/llm/providers/model-directory'
import { FAULTS, type FaultCode } from '../../core/fault-table.ts'
import { explainAlias } from '../../core/models/explain-alias.ts'
import type { ModelAliasRow } from '../../storage/model-tables.ts'
import { getEnvironmentModels } from '../../storage/models/environment-models.ts'
import type { Db } from '../../storage/pool.ts'
import type { EnvironmentRow } from '../../storage/schema.ts'
import { toAlias } from '../../storage/snapshots/model-snapshots.ts'
import { z } from '../operation/zod.ts'
import { AliasResource, toAliasResource } from './alias-resource.ts'

const Warning = z.strictObject({
  model: z.string().meta({ description: 'The target, as the alias names it.' }),
  code: z.enum(Object.keys(FAULTS) as [FaultCode, ...FaultCode[]]),
  message: z.string(),
})

/** The answer to a write of an alias. */
export const WrittenAliasResource = AliasResource.extend({
  warnings: z.array(Warning).meta({
    description: 'The targets that no request could use now, with the reason. Empty if all can be used.',
  }),
}).meta({ id: 'WrittenModelAlias' })

/** Returns an alias that was written, with a warning for each target that cannot serve any request now. */
export async function toWrittenAlias(
  db: Db,
  environment: EnvironmentRow,
  row: ModelAliasRow,
): Promise<z.output<typeof WrittenAliasResource>> {
  const surroundings = await getEnvironmentModels(db, environment)
  const { targets } = explainAlias(toAlias(row), [], surroundings, modelDirectory, findModel)
  const warnings = targets.flatMap(({ model, code, message }) =>
    code === null ? [] : [{ model, code, message }],
  )
  return { ...toAliasResource(row), warnings }
}
