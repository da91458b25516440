import { hasLiveProject } from '../live-owner.ts'
import type { EnvironmentRow } from '../schema.ts'
import { defineTable } from '../table.ts'

const environments = defineTable('environments', hasLiveProject)

export const { insert: insertEnvironment, find: findEnvironment } = environments
export const { updateExisting: updateEnvironment } = environments
export const listEnvironments = environments.listBy('project_id')

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
