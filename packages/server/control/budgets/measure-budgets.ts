import { type Span, spanAt } from '../../core/windows.ts'
import { findOrganization } from '../../storage/organizations.ts'
import type { BudgetRow } from '../../storage/policy-tables.ts'
import { sumUsage, type UsageQuestion } from '../../storage/usage-totals.ts'
import type { Services } from '../operation.ts'
import { orGone } from '../or-gone.ts'

export interface MeasuredBudget extends BudgetRow {
  readonly spent_nano_usd: number
  /** Of requests that are under way. Nothing is held yet: spend counts when a request has ended. */
  readonly reserved_nano_usd: number
  readonly resets_at: Date | null
}

/**
 * Budgets of one organization with what the ledger says was spent of each: in a calendar window all of it, also before
 * the budget's creation; `total` counts from there.
 */
export async function measureBudgets(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  orgId: string,
  rows: readonly BudgetRow[],
): Promise<MeasuredBudget[]> {
  const { time_zone } = orGone(await findOrganization(db, orgId))
  const now = clock.now()
  const spans = rows.map(row => spanAt(row.window, now, time_zone, row.created_at.getTime()))
  const totals = await sumUsage(
    db,
    rows.map((row, index) => toQuestion(row, spans[index] as Span)),
  )
  return rows.map((row, index) => {
    const { end } = spans[index] as Span
    return {
      ...row,
      spent_nano_usd: totals.get(row.id)?.cost_nano_usd ?? 0,
      reserved_nano_usd: 0,
      resets_at: end === null ? null : new Date(end),
    }
  })
}

export async function measureBudget(
  services: Pick<Services, 'db' | 'clock'>,
  row: BudgetRow,
): Promise<MeasuredBudget> {
  const [measured] = await measureBudgets(services, row.org_id, [row])
  return measured as MeasuredBudget
}

function toQuestion(row: BudgetRow, { start }: Span): UsageQuestion {
  const { id, org_id, project_id, scope, scope_ref } = row
  return {
    id,
    org_id,
    project_id,
    environment_id: scope === 'environment' ? scope_ref : null,
    key_id: scope === 'key' ? scope_ref : null,
    since: new Date(start),
    // The sandbox's fictitious prices try out the budgets of a project; they are no spend of the organization.
    real_only: project_id === null && scope === null,
  }
}
