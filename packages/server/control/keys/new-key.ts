import { createKeyText, hashKeyText, maskKeyText } from '../../core/access/key-format.ts'
import type { Endpoint, KeyKind, Scope } from '../../core/tenancy/tenancy.ts'
import type { EnvironmentRow, KeyRow } from '../../storage/schema.ts'
import type { Services } from '../operation/operation.ts'

export interface NewKey {
  /** The original of the key that this one replaces; absent: it replaces none. */
  readonly originalId?: string
  readonly kind: KeyKind
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly allowedModels: readonly string[] | null
  readonly allowedEndpoints: readonly Endpoint[] | null
  readonly maxRequestCostNanoUsd: number | null
  readonly expiresAt: Date | null
}

/** Returns the plaintext of a new key, which is not stored, and its row. */
export function createKeyRow(
  services: Pick<Services, 'clock' | 'random' | 'newId' | 'secretBox'>,
  environment: EnvironmentRow,
  input: NewKey,
): { row: KeyRow; text: string } {
  const id = services.newId()
  const now = new Date(services.clock.now())
  const text = createKeyText({ kind: input.kind, environment: environment.name }, services.random)
  const row: KeyRow = {
    id,
    original_id: input.originalId ?? id,
    org_id: environment.org_id,
    project_id: environment.project_id,
    environment_id: environment.id,
    kind: input.kind,
    name: input.name,
    hash: hashKeyText(text),
    prefix_display: maskKeyText(text),
    // A publishable key is not secret and can be shown again, so more than its hash is stored.
    publishable_cipher: input.kind === 'publishable' ? services.secretBox.seal(text, `keys:${id}`) : null,
    scopes: [...input.scopes],
    allowed_models: input.allowedModels === null ? null : [...input.allowedModels],
    allowed_endpoints: input.allowedEndpoints === null ? null : [...input.allowedEndpoints],
    max_request_cost_nano_usd: input.maxRequestCostNanoUsd,
    expires_at: input.expiresAt,
    revoked_at: null,
    rolled_to: null,
    last_used_at: null,
    created_at: now,
    updated_at: now,
  }
  return { row, text }
}
