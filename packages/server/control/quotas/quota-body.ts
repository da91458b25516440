import { CALENDAR_WINDOWS } from '../../core/tenancy/windows.ts'
import type { QuotaRow } from '../../storage/policy-tables.ts'
import type { Db } from '../../storage/pool.ts'
import { type Owner, parseScopeRef, type StoredScope, scopeRefField } from '../operation/scope-ref.ts'
import { z } from '../operation/zod.ts'

export const QUOTA_SCOPES = ['environment', 'key', 'end_user', 'default_end_user'] as const
export const QUOTA_METRICS = ['requests', 'tokens'] as const

const quotaFields = {
  scope: z.enum(QUOTA_SCOPES),
  scope_ref: scopeRefField.nullish(),
  metric: z.enum(QUOTA_METRICS),
  window: z.enum(CALENDAR_WINDOWS),
  limit: z.int().min(0),
  grace_pct: z
    .number()
    .min(0)
    .nullish()
    .meta({ description: 'Requests are rejected above limit × (1 + grace_pct / 100). Default: 0.' }),
}

export const NewQuota = z.strictObject(quotaFields).meta({ id: 'NewQuota' })
export const QuotaChange = z.strictObject(quotaFields).partial().meta({ id: 'QuotaChange' })
type QuotaFields = z.output<typeof NewQuota>

/** Checks what the schema cannot express: scope_ref exists in the environment. */
export async function parseQuota(
  db: Db,
  owner: Owner,
  fields: QuotaFields,
  stored?: StoredScope,
): Promise<Pick<QuotaRow, 'scope' | 'scope_ref' | 'metric' | 'window' | 'limit' | 'grace_pct'>> {
  const { scope, metric, window, limit } = fields
  const scope_ref = await parseScopeRef(db, owner, scope, fields.scope_ref ?? null, stored)
  return { scope, scope_ref, metric, window, limit, grace_pct: fields.grace_pct ?? 0 }
}
