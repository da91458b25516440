import type { JsonObject } from '@rideau/llm/json/json-value'
import { findProvider } from '@rideau/llm/providers/index'
import type { SecretBox } from '../../core/access/secret-box.ts'
import { refreshDelayMs } from '../../core/models/refresh-schedule.ts'
import type { NewProviderCredentialRow } from '../../storage/models/provider-credentials.ts'
import type { EnvironmentRow } from '../../storage/schema.ts'
import { sealOptions } from '../../storage/secrets/secret-options.ts'
import { newRecord, ownerColumns } from '../operation/new-record.ts'
import type { Services } from '../operation/operation.ts'
import type { CheckOutcome } from './check-credential.ts'

export interface CredentialInput {
  readonly provider: string
  readonly name: string
  /** Empty if the provider needs none. */
  readonly apiKey: string
  readonly baseUrl: string | null
  readonly options: JsonObject
  readonly weight: number
}

/** Seals a key for its row alone. Its fingerprint lets the owner recognise the key without exposing any part of it. */
export function sealApiKey(
  secretBox: SecretBox,
  id: string,
  apiKey: string,
): Pick<NewProviderCredentialRow, 'secret_cipher' | 'key_fingerprint'> {
  return {
    secret_cipher: secretBox.seal(apiKey, `provider_credentials:${id}`),
    key_fingerprint: apiKey === '' ? 'none' : secretBox.fingerprint(apiKey),
  }
}

/** `checked`: what the provider answered about the key. undefined: it was not asked, and the hourly refresh leaves it out. */
export function toCredentialRow(
  services: Pick<Services, 'clock' | 'newId' | 'secretBox'>,
  environment: EnvironmentRow,
  input: CredentialInput,
  checked?: CheckOutcome,
): NewProviderCredentialRow {
  const record = newRecord(services)
  return {
    ...record,
    ...ownerColumns(environment),
    provider: input.provider,
    name: input.name,
    ...sealApiKey(services.secretBox, record.id, input.apiKey),
    base_url: input.baseUrl,
    ...sealOptions(services.secretBox, { id: record.id, provider: input.provider }, input.options),
    weight: input.weight,
    last_validated_at: null,
    validation_error: null,
    ...(checked === undefined ? {} : toCheckedColumns(checked, input, record.created_at)),
  }
}

function toCheckedColumns(
  { error, models = [] }: CheckOutcome,
  { provider }: CredentialInput,
  at: Date,
): Pick<
  NewProviderCredentialRow,
  'last_validated_at' | 'validation_error' | 'discovered_models' | 'refresh_at' | 'refresh_failures'
> {
  const failures = error === null ? 0 : 1
  const hasList = findProvider(provider)?.sandbox !== true
  return {
    last_validated_at: at,
    validation_error: error,
    discovered_models: [...models],
    refresh_at: hasList ? new Date(at.getTime() + refreshDelayMs(failures)) : null,
    refresh_failures: failures,
  }
}
