import { calendarBoundsAt, type WindowBounds } from '../../core/tenancy/windows.ts'
import type { BudgetRow } from '../../storage/policy-tables.ts'
import type { Db } from '../../storage/pool.ts'
import { sumRecentSpend } from '../../storage/usage/recent-spend.ts'

const DAY_MS = 86_400_000
const BASIS_DAYS = 7

/**
 * Returns what each budget of one organization is likely to have spent at the end of its window, in nano-dollars: what is
 * spent, and the mean of the last 7 whole days for the time that is left. null: the window has no end, or those days had
 * no request.
 */
export async function projectSpend(
  db: Db,
  orgId: string,
  budgets: readonly { readonly row: BudgetRow; readonly bounds: WindowBounds; readonly spent: number }[],
  now: number,
  timeZone: string,
): Promise<(number | null)[]> {
  const today = calendarBoundsAt('day', now, timeZone).start
  // From noon, an hour of change leaves one in the same day.
  const first = calendarBoundsAt('day', today + DAY_MS / 2 - BASIS_DAYS * DAY_MS, timeZone).start
  const recent = await sumRecentSpend(
    db,
    orgId,
    budgets.filter(({ bounds }) => bounds.end !== null).map(({ row }) => toSelector(row)),
    new Date(first),
    new Date(today),
  )
  return budgets.map(({ row, bounds: { end }, spent }) => {
    const basis = recent.get(row.id)
    if (end === null || basis === undefined) return null
    return Math.round(spent + ((basis / BASIS_DAYS) * (end - now)) / DAY_MS)
  })
}

function toSelector({ id, project_id, scope, scope_ref, counted_ref }: BudgetRow) {
  return {
    id,
    project_id,
    environment_id: scope === 'environment' ? scope_ref : null,
    key_id: scope === 'key' ? counted_ref : null,
    // As for what is spent (measure-budgets.ts).
    real_only: project_id === null && scope === null,
  }
}
