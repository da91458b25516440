import {
  CREDENTIAL_REJECTED,
  updateCredentialValidation,
} from '../../storage/models/credential-validation.ts'
import { updateFailedRefresh } from '../../storage/models/model-list-refreshes.ts'
import type { ProviderCredentialRow } from '../../storage/models/provider-credentials.ts'
import type { Services } from '../operation/operation.ts'
import type { CheckOutcome } from './check-credential.ts'
import { checkStoredCredential } from './check-stored-credential.ts'

/**
 * Asks the provider of a claimed credential for its list of models and stores it. A provider that accepts or rejects the
 * key validates it; one that does not answer leaves the last result and the models as they are. Rejects if the key cannot
 * be decrypted or the database fails.
 */
export async function refreshModels(
  row: ProviderCredentialRow,
  services: Pick<Services, 'db' | 'secretBox' | 'egress' | 'clock' | 'newId'>,
  signal?: AbortSignal,
): Promise<void> {
  const { error, models } = await check(row, services, signal)
  // The request was cut because the process ends. Another one makes it when the claim has expired.
  if (signal?.aborted === true) return
  const at = new Date(services.clock.now())
  if (error !== null && error !== CREDENTIAL_REJECTED) return await updateFailedRefresh(services.db, row, at)
  await services.db.transaction().execute(async tx => {
    await updateCredentialValidation(tx, row, { at, error, models }, services)
  })
}

/** Stores an exception as a failure too, so that its cause is not met again at once. */
async function check(
  row: ProviderCredentialRow,
  services: Parameters<typeof refreshModels>[1],
  signal: AbortSignal | undefined,
): Promise<CheckOutcome> {
  try {
    return await checkStoredCredential(row, services, signal)
  } catch (error) {
    await updateFailedRefresh(services.db, row, new Date(services.clock.now()))
    throw error
  }
}
