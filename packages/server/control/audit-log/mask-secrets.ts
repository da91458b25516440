/** Fields that show a secret once, in the answer to who made it. */
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

/** A copy as JSON knows it, without the fields that hold secrets, at any depth. */
export function maskSecrets(value: unknown): unknown {
  if (value === undefined) return null
  return JSON.parse(JSON.stringify(value, (name, inner) => (SECRET_FIELDS.has(name) ? undefined : inner)))
}
