import type { NewCredential } from '../../storage/provider-credentials.ts'
import type { EnvironmentRow } from '../../storage/schema.ts'
import type { Services } from '../operation.ts'

export interface CredentialInput {
  readonly provider: string
  readonly name: string
  /** Empty where the provider needs none. */
  readonly apiKey: string
  readonly baseUrl: string | null
  readonly options: Readonly<Record<string, unknown>>
  readonly weight: number
}

/**
 * A new credential's row, its key sealed for that row alone. The fingerprint lets an owner recognise a key without
 * seeing any part of it; see SecretBox.
 */
export function toCredentialRow(
  services: Pick<Services, 'clock' | 'newId' | 'secretBox'>,
  environment: EnvironmentRow,
  input: CredentialInput,
): NewCredential {
  const id = services.newId()
  const now = new Date(services.clock.now())
  return {
    id,
    org_id: environment.org_id,
    project_id: environment.project_id,
    environment_id: environment.id,
    provider: input.provider,
    name: input.name,
    secret_cipher: services.secretBox.seal(input.apiKey, `provider_credentials:${id}`),
    key_fingerprint: input.apiKey === '' ? 'none' : services.secretBox.fingerprint(input.apiKey),
    base_url: input.baseUrl,
    options: JSON.stringify(input.options),
    weight: input.weight,
    last_validated_at: null,
    validation_error: null,
    created_at: now,
    updated_at: now,
  }
}
