import { findProvider } from '@rideau/llm/providers/index'
import { toModelsBaseUrl } from '@rideau/llm/upstream/base-address'
import { chargeLookupsTo } from '../../http/egress/egress.ts'
import { toLookupOwner } from '../../http/names/lookup-slots.ts'
import type { ProviderCredentialRow } from '../../storage/models/provider-credentials.ts'
import { openOptions } from '../../storage/secrets/secret-options.ts'
import type { Services } from '../operation/operation.ts'
import { type CheckOutcome, checkCredential } from './check-credential.ts'

const TIMEOUT_MS = 10_000

/** Checks a stored key with its provider, through the egress guard, within 10 seconds. */
export async function checkStoredCredential(
  row: ProviderCredentialRow,
  { secretBox, egress, clock }: Pick<Services, 'secretBox' | 'egress' | 'clock'>,
  signal?: AbortSignal,
): Promise<CheckOutcome> {
  const provider = findProvider(row.provider)
  if (provider === undefined) throw new Error(`a stored credential of an unknown provider: ${row.provider}`)
  const apiKey = secretBox.open(row.secret_cipher, `provider_credentials:${row.id}`)
  const options = openOptions(secretBox, row)
  const baseUrl = toModelsBaseUrl(provider, row.base_url, options)
  const policy = chargeLookupsTo(egress, toLookupOwner(row.org_id))
  return await checkCredential(
    { provider, baseUrl, apiKey, options },
    policy,
    TIMEOUT_MS,
    clock.now(),
    signal,
  )
}
