/** An invalid setting. The message names the setting, and contains its value only if that is a number or a choice. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}
