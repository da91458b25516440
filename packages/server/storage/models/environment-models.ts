import type { ModelEnvironment, ModelSource } from '../../core/models/resolve-model.ts'
import type { Db } from '../pool.ts'
import type { EnvironmentRow } from '../schema.ts'
import { toCustomModel } from '../snapshots/model-snapshots.ts'

/** What model names resolve by in the environment: its allowed and custom models, and its credentials without secrets. */
export async function findEnvironmentModels(
  db: Db,
  environment: EnvironmentRow,
): Promise<ModelEnvironment<ModelSource>> {
  const credentials = await db
    .selectFrom('provider_credentials')
    .select(['provider', 'discovered_models'])
    .where('environment_id', '=', environment.id)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  const models = await db
    .selectFrom('custom_models')
    .select(['model', 'capabilities', 'context_window', 'max_output_tokens', 'pricing'])
    .where('environment_id', '=', environment.id)
    .execute()
  return {
    name: environment.name,
    allowedModels: environment.allowed_models,
    credentials: credentials.map(row => ({
      provider: row.provider,
      discovered: new Set(row.discovered_models),
    })),
    customModels: new Map(models.map(row => [row.model, toCustomModel(row)])),
  }
}
