import type { EnvironmentRow } from '../../storage/schema.ts'
import { allowedModelsField } from '../operation/allowed-models-field.ts'
import { stamps, toStamps, uuid } from '../operation/fields.ts'
import { storedFields } from '../operation/stored-fields.ts'
import { z } from '../operation/zod.ts'

/** The settings of an environment that its administrators change. */
export const environmentSettings = {
  log_retention_days: z.int().min(1).max(365),
  log_capture: z.enum(['full', 'metadata']),
  allowed_models: allowedModelsField.nullable(),
  unsupported_params: z.enum(['refuse', 'drop']),
  on_client_gone: z.enum(['cancel', 'drain']),
  allow_client_passthrough: z.boolean(),
  allow_secret_key_in_browser: z.boolean(),
}

export const EnvironmentResource = z
  .strictObject({
    id: uuid,
    org_id: uuid,
    project_id: uuid,
    name: z.enum(['development', 'production']),
    is_default: z.boolean(),
    ...environmentSettings,
    allowed_models: z.array(z.string()).nullable(),
    ...stamps,
  })
  .meta({ id: 'Environment' })

export function toEnvironmentResource(row: EnvironmentRow): z.output<typeof EnvironmentResource> {
  return { ...storedFields(EnvironmentResource, row), ...toStamps(row) }
}
