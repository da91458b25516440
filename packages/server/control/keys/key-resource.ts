import { toUsd } from '@rideau/llm/usage/money'
import { ENDPOINTS, SCOPES } from '../../core/tenancy/tenancy.ts'
import type { KeyRow } from '../../storage/schema.ts'
import { dateTime, stamps, toDateTime, toStamps, uuid } from '../operation/fields.ts'
import { storedFields } from '../operation/stored-fields.ts'
import { z } from '../operation/zod.ts'

const fields = {
  id: uuid,
  environment_id: uuid,
  project_id: uuid,
  kind: z.enum(['secret', 'publishable']),
  name: z.string(),
  prefix_display: z.string(),
  scopes: z.array(z.enum(SCOPES)),
  restrictions: z.strictObject({
    allowed_models: z.array(z.string()).nullable(),
    allowed_endpoints: z.array(z.enum(ENDPOINTS)).nullable(),
    max_request_cost_usd: z.number().nullable(),
  }),
  expires_at: dateTime.nullable(),
  revoked_at: dateTime.nullable(),
  rolled_to: uuid.nullable(),
  last_used_at: dateTime.nullable(),
  ...stamps,
}

export const KeyResource = z.strictObject(fields).meta({ id: 'ApiKey' })

/** Returned at creation only: the plaintext is shown once. */
export const NewKeyResource = z.strictObject({ ...fields, key: z.string() }).meta({ id: 'NewApiKey' })

export function toKeyResource(row: KeyRow): z.output<typeof KeyResource> {
  return {
    ...storedFields(KeyResource, row),
    // The schema checked these lists when they were written.
    scopes: row.scopes as z.output<typeof KeyResource>['scopes'],
    restrictions: {
      allowed_models: row.allowed_models,
      allowed_endpoints: row.allowed_endpoints as z.output<
        typeof KeyResource
      >['restrictions']['allowed_endpoints'],
      max_request_cost_usd: toUsd(row.max_request_cost_nano_usd),
    },
    expires_at: toDateTime(row.expires_at),
    revoked_at: toDateTime(row.revoked_at),
    last_used_at: toDateTime(row.last_used_at),
    ...toStamps(row),
  }
}
