import type { UpstreamError } from '@rideau/llm/upstream/upstream-error'
import type { Credential } from '../../core/tenancy/tenancy.ts'

/** Shorter options are names of regions and versions, which are useful in the log. */
const SECRET_CHARS = 16

/** Options that may be secret, such as a session token. */
function listSecretOptions({ options }: Credential): string[] {
  return Object.values(options).filter(
    (value): value is string => typeof value === 'string' && value.length >= SECRET_CHARS,
  )
}

/** Removes the key from an error, and options that may be secret. */
export function redactSecrets(error: UpstreamError, credential: Credential): UpstreamError {
  let clean = redactSecret(error, credential.apiKey, '[key]')
  for (const value of listSecretOptions(credential)) clean = redactSecret(clean, value, '[option]')
  return clean
}

/** Returns undefined for a model's name with a secret in it: a provider may repeat any text. */
export function redactModel(model: string | undefined, credential: Credential): string | undefined {
  const secrets = [credential.apiKey, ...listSecretOptions(credential)]
  return secrets.some(secret => secret !== '' && model?.includes(secret) === true) ? undefined : model
}

/**
 * Returns the error without the secret. Some providers repeat the rejected key in their error message, which is logged.
 */
export function redactSecret(error: UpstreamError, secret: string, mark: string): UpstreamError {
  const { detail, message } = error
  if (secret === '' || !(detail.includes(secret) || message?.includes(secret) === true)) return error
  return {
    ...error,
    detail: detail.replaceAll(secret, mark),
    ...(message === undefined ? {} : { message: message.replaceAll(secret, mark) }),
  }
}
