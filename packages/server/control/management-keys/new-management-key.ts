import { createKeyText, hashKeyText, maskKeyText } from '../../core/access/key-format.ts'
import type { ManagementKeyRow } from '../../storage/schema.ts'
import type { Services } from '../operation/operation.ts'

export interface NewManagementKey {
  readonly orgId: string
  readonly name: string
  readonly role: ManagementKeyRow['role']
  readonly expiresAt: Date | null
  /** The user who creates it. Default: unknown. */
  readonly createdBy?: string
}

/** Returns the plaintext of a new management key, which is not stored, and its row. */
export function createManagementKeyRow(
  services: Pick<Services, 'clock' | 'random' | 'newId'>,
  input: NewManagementKey,
): { row: ManagementKeyRow; text: string } {
  const now = new Date(services.clock.now())
  const text = createKeyText({ kind: 'management' }, services.random)
  const row: ManagementKeyRow = {
    id: services.newId(),
    org_id: input.orgId,
    name: input.name,
    role: input.role,
    created_by: input.createdBy ?? null,
    hash: hashKeyText(text),
    prefix_display: maskKeyText(text),
    expires_at: input.expiresAt,
    revoked_at: null,
    last_used_at: null,
    created_at: now,
    updated_at: now,
  }
  return { row, text }
}
