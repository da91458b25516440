/** Fields that contain a secret, which is returned once, to its creator. */
const SECRET_FIELDS = new Set([
  'key',
  'secret',
  'token',
  'password',
  'api_key',
  'accept_url',
  'reset_url',
  'setup_token',
  'identity_token',
])

/** Returns a copy as JSON, without the fields that contain secrets, at any depth. */
export function maskSecrets(value: unknown): unknown {
  if (value === undefined) return null
  return JSON.parse(JSON.stringify(value, (name, inner) => (SECRET_FIELDS.has(name) ? undefined : inner)))
}
