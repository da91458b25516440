import type { ProviderCredentialRow } from '../../storage/provider-credentials.ts'
import { dateTime, environmentIds, stamps, toDateTime, toStamps } from '../operation/fields.ts'
import { storedFields } from '../operation/stored-fields.ts'
import { z } from '../operation/zod.ts'

/** `options` are not returned: a provider's options may include secrets. */
export const CredentialResource = z
  .strictObject({
    ...environmentIds,
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
    ...storedFields(CredentialResource, row),
    last_validated_at: toDateTime(row.last_validated_at),
    ...toStamps(row),
  }
}
