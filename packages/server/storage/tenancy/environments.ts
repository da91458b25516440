import { hasLiveProject } from '../live-owner.ts'
import type { Db } from '../pool.ts'
import type { EnvironmentRow } from '../schema.ts'
import { defineTable } from '../table.ts'

const environments = defineTable('environments', hasLiveProject)

export const { insert: insertEnvironment, find: findEnvironment } = environments
export const { updateExisting: updateEnvironment } = environments
export const listEnvironments = environments.listBy('project_id')

/** Locks the row until the transaction ends: changes of an environment's default plan run one after the other. */
export async function lockEnvironment(tx: Db, id: string): Promise<void> {
  // Not `for update`, for which the inserts of end users and keys would wait.
  await tx.selectFrom('environments').select('id').where('id', '=', id).forNoKeyUpdate().execute()
}

/** Fields of an environment that can change. */
export type EnvironmentSettings = Pick<
  EnvironmentRow,
  | 'log_retention_days'
  | 'log_capture'
  | 'allowed_models'
  | 'unsupported_params'
  | 'on_client_gone'
  | 'allow_client_passthrough'
  | 'allow_secret_key_in_browser'
>
