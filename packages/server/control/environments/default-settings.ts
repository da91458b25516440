import type { EnvironmentName } from '../../core/tenancy/tenancy.ts'
import type { EnvironmentSettings } from '../../storage/tenancy/environments.ts'

/** The settings of a new environment. Development captures full bodies, production metadata only. */
export function defaultSettings(name: EnvironmentName): EnvironmentSettings {
  return {
    log_retention_days: 30,
    log_capture: name === 'development' ? 'full' : 'metadata',
    allowed_models: null,
    unsupported_params: 'refuse',
    on_client_gone: 'cancel',
    allow_client_passthrough: false,
    allow_secret_key_in_browser: false,
  }
}
