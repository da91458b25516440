import type { ProviderCredentialRow } from '../../storage/provider-credentials.ts'
import { dateTime, stamps, toDateTime, toStamps, uuid } from '../operation/fields.ts'
import { z } from '../operation/zod.ts'

/** `options` are not returned: a provider's options may include secrets. */
export const CredentialResource = z
  .strictObject({
    id: uuid,
    project_id: uuid,
    environment_id: uuid,
    provider: z.string(),
    name: z.string(),
    key_fingerprint: z.string(),
    base_url: z.string().nullable(),
    weight: z.int(),
    last_validated_at: dateTime.nullable(),
    validation_error: z.string().nullable(),
    ...stamps,
  })
  .meta({ id: 'ProviderCredential' })

export function toCredentialResource(row: ProviderCredentialRow): z.output<typeof CredentialResource> {
  return {
    id: row.id,
    project_id: row.project_id,
    environment_id: row.environment_id,
    provider: row.provider,
    name: row.name,
    key_fingerprint: row.key_fingerprint,
    base_url: row.base_url,
    weight: row.weight,
    last_validated_at: toDateTime(row.last_validated_at),
    validation_error: row.validation_error,
    ...toStamps(row),
  }
}
