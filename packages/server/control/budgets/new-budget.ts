import type { BudgetRow } from '../../storage/policy-tables.ts'
import type { Services } from '../operation/operation.ts'
import type { BudgetSettings } from './budget-body.ts'

export function toBudgetRow(
  { newId, clock }: Pick<Services, 'newId' | 'clock'>,
  owner: Pick<BudgetRow, 'org_id' | 'project_id'>,
  settings: BudgetSettings,
): BudgetRow {
  const now = new Date(clock.now())
  return { id: newId(), ...owner, ...settings, created_at: now, updated_at: now }
}
