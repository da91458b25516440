import { sql } from 'kysely'
import type { ModelEnvironment, ModelSource } from '../../core/models/resolve-model.ts'
import { withBoundedModels } from '../discovered-models.ts'
import type { Db } from '../pool.ts'
import type { EnvironmentRow } from '../schema.ts'
import { toCustomModel } from '../snapshots/model-snapshots.ts'

/** What model names resolve by in the environment: its allowed and custom models, and its credentials without secrets. */
export async function getEnvironmentModels(
  db: Db,
  environment: EnvironmentRow,
): Promise<ModelEnvironment<ModelSource>> {
  const { rows: credentials } = await sql<{ provider: string; bounded_models: string[] }>`
    select c.provider, c.bounded_models from environments e, lateral ${sql.raw(withBoundedModels('e.id'))} c
      where e.id = ${environment.id} order by c.created_at, c.id`.execute(db)
  const models = await db
    .selectFrom('custom_models')
    .select(['model', 'capabilities', 'context_window', 'max_output_tokens', 'pricing'])
    .where('environment_id', '=', environment.id)
    .execute()
  return {
    name: environment.name,
    allowedModels: environment.allowed_models,
    credentials: credentials.map(({ provider, bounded_models }) => ({
      provider,
      discovered: new Set(bounded_models),
    })),
    customModels: new Map(models.map(row => [row.model, toCustomModel(row)])),
  }
}
