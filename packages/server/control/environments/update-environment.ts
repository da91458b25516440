import {
  type EnvironmentSettings,
  updateEnvironment as storeEnvironment,
} from '../../storage/tenancy/environments.ts'
import { defineOperation } from '../operation/operation.ts'
import { z } from '../operation/zod.ts'
import { defaultSettings } from './default-settings.ts'
import { EnvironmentResource, environmentSettings, toEnvironmentResource } from './environment-resource.ts'

const EnvironmentChange = z
  .strictObject({
    log_retention_days: environmentSettings.log_retention_days.nullable(),
    log_capture: environmentSettings.log_capture.nullable(),
    allowed_models: environmentSettings.allowed_models,
    unsupported_params: environmentSettings.unsupported_params.nullable(),
    on_client_gone: environmentSettings.on_client_gone.nullable(),
    allow_client_passthrough: environmentSettings.allow_client_passthrough.nullable(),
    allow_secret_key_in_browser: environmentSettings.allow_secret_key_in_browser.nullable(),
  })
  .partial()

export const updateEnvironment = defineOperation('PATCH /v1/environments/{envId}', {
  name: 'environments.update',
  summary:
    "Changes an environment's policy. `null` resets a setting to what a new environment has; of `allowed_models` that is every model.",
  // An environment's policy restricts its developers too, so only administrators change it.
  access: { role: 'admin', of: 'environment' },
  body: EnvironmentChange,
  response: { 200: EnvironmentResource },
  handle: async ({ services, resource, body }) => {
    const sent = new Map<string, unknown>(Object.entries(body))
    const change = Object.fromEntries(
      Object.entries(defaultSettings(resource.name)).flatMap(([name, value]) => {
        const given = sent.get(name)
        return given === undefined ? [] : [[name, given ?? value]]
      }),
    ) as Partial<EnvironmentSettings>
    const now = new Date(services.clock.now())
    return toEnvironmentResource(await storeEnvironment(services.db, resource.id, change, now))
  },
})
