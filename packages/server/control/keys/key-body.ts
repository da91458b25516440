import { Fault } from '../../core/fault.ts'
import { ENDPOINTS, SCOPES, type Scope } from '../../core/tenancy/tenancy.ts'
import { allowedModelsField } from '../operation/allowed-models-field.ts'
import { dateTimeField, textField } from '../operation/fields.ts'
import { usdField } from '../operation/money.ts'
import { scopesField } from '../operation/scopes-field.ts'
import { z } from '../operation/zod.ts'

/** The fields of a key, at its creation and later. */
export const keyFields = {
  name: textField(200),
  scopes: scopesField.nullish(),
  restrictions: z
    .strictObject({
      allowed_models: allowedModelsField.nullish(),
      allowed_endpoints: z.array(z.enum(ENDPOINTS)).max(ENDPOINTS.length).nullish(),
      max_request_cost_usd: usdField.nullish(),
    })
    .nullish(),
  expires_at: dateTimeField.nullish(),
}

export function parseScopes(names: readonly string[] | null): Scope[] {
  if (names === null) return [...SCOPES]
  const scopes = SCOPES.filter(scope => names.includes(scope))
  if (names.length === 0 || names.some(name => !scopes.includes(name as Scope))) {
    throw new Fault('invalid_scope', `scopes must be one or more of ${SCOPES.join(', ')}.`, {
      param: 'scopes',
    })
  }
  return scopes
}

export function parseExpiry(text: string | null, now: number): Date | null {
  if (text === null) return null
  const expiresAt = new Date(text)
  if (expiresAt.getTime() <= now) {
    throw new Fault('invalid_request', 'expires_at must lie in the future.', { param: 'expires_at' })
  }
  return expiresAt
}

export const NewKey = z
  .strictObject({ kind: z.enum(['secret', 'publishable']), ...keyFields })
  .meta({ id: 'NewKey' })
