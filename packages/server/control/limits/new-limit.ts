import type { LimitRow } from '../../storage/policy-tables.ts'
import type { Services } from '../operation/operation.ts'
import type { Owner } from '../operation/scope-ref.ts'

export function toLimitRow(
  { newId, clock }: Pick<Services, 'newId' | 'clock'>,
  { org_id, project_id, environment_id }: Owner,
  fields: Pick<LimitRow, 'scope' | 'scope_ref' | 'metric' | 'limit' | 'window_seconds'>,
): LimitRow {
  const now = new Date(clock.now())
  return { id: newId(), org_id, project_id, environment_id, ...fields, created_at: now, updated_at: now }
}
