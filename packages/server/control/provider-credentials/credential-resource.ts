import { findProvider } from '@rideau/llm/providers/index'
import type { ProviderCredentialRow } from '../../storage/models/provider-credentials.ts'
import { dateTime, environmentIds, stamps, toDateTime, toStamps } from '../operation/fields.ts'
import { storedFields } from '../operation/stored-fields.ts'
import { z } from '../operation/zod.ts'

export const CredentialResource = z
  .strictObject({
    ...environmentIds,
    provider: z.string(),
    name: z.string(),
    key_fingerprint: z.string(),
    base_url: z.string().nullable(),
    options: z.record(z.string(), z.unknown()).meta({
      description: 'As they were set, without secret ones such as a session token.',
    }),
    weight: z.int(),
    last_validated_at: dateTime.nullable(),
    validation_error: z.string().nullable(),
    ...stamps,
  })
  .meta({ id: 'ProviderCredential' })

export function toCredentialResource(row: ProviderCredentialRow): z.output<typeof CredentialResource> {
  return {
    ...storedFields(CredentialResource, row),
    options: toShownOptions(row),
    last_validated_at: toDateTime(row.last_validated_at),
    ...toStamps(row),
  }
}

/** Only what the provider's list says is no secret. */
function toShownOptions({ provider, options }: ProviderCredentialRow): Record<string, unknown> {
  const shown = findProvider(provider)?.options?.filter(({ secret }) => !secret) ?? []
  const stored = new Map(Object.entries(options))
  return Object.fromEntries(shown.flatMap(({ name }) => (stored.has(name) ? [[name, stored.get(name)]] : [])))
}
