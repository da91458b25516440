import { CurrentWindows } from '../../core/limits/current-windows.ts'
import type { WindowBounds } from '../../core/tenancy/windows.ts'
import { toBudgetRowMeter } from '../../storage/policies/policy-meters.ts'
import type { BudgetRow } from '../../storage/policy-tables.ts'
import { findOrganization } from '../../storage/tenancy/organizations.ts'
import { sumUsage, type UsageSelector } from '../../storage/usage/usage-totals.ts'
import type { Services } from '../operation/operation.ts'
import { orResourceNotFound } from '../operation/or-not-found.ts'
import { projectSpend } from './project-spend.ts'

export interface MeasuredBudget extends BudgetRow {
  readonly spent_nano_usd: number
  /** Reservations of running requests; null if the counters cannot be read. */
  readonly reserved_nano_usd: number | null
  /** An estimate (project-spend.ts). */
  readonly projected_nano_usd: number | null
  readonly resets_at: Date | null
}

interface Spending {
  readonly row: BudgetRow
  readonly bounds: WindowBounds
  readonly spent: number
  /** As `reserved_nano_usd`. */
  readonly reserved: number | null
}

type MeasureDeps = Pick<Services, 'db' | 'clock' | 'readMeters'>

/**
 * Returns the budgets of one organization with their spend: in a calendar window all of it, including spend before the
 * budget's creation; for `total`, the spend since its creation. The figures come from the limits' counters, against which
 * the next request is checked, or from the usage ledger if the counters cannot be read.
 */
export async function measureBudgets(
  services: MeasureDeps,
  orgId: string,
  rows: readonly BudgetRow[],
): Promise<MeasuredBudget[]> {
  const { db, clock } = services
  const { time_zone } = orResourceNotFound(await findOrganization(db, orgId))
  const now = clock.now()
  const spending = await readSpending(services, rows, time_zone, now)
  const projected = await projectSpend(db, orgId, spending, now, time_zone)
  return spending.map(({ row, bounds: { end }, spent, reserved }, index) => ({
    ...row,
    spent_nano_usd: spent,
    reserved_nano_usd: reserved,
    projected_nano_usd: projected[index] ?? null,
    resets_at: end === null ? null : new Date(end),
  }))
}

export async function measureBudget(services: MeasureDeps, row: BudgetRow): Promise<MeasuredBudget> {
  const [measured] = await measureBudgets(services, row.org_id, [row])
  return measured as MeasuredBudget
}

/** Returns what a budget has spent and reserved, in nano-dollars, without an estimate. */
export async function measureSpend(services: MeasureDeps, row: BudgetRow): Promise<Spending> {
  const { time_zone } = orResourceNotFound(await findOrganization(services.db, row.org_id))
  const [spending] = await readSpending(services, [row], time_zone, services.clock.now())
  return spending as Spending
}

async function readSpending(
  { db, readMeters }: MeasureDeps,
  rows: readonly BudgetRow[],
  timeZone: string,
  now: number,
): Promise<Spending[]> {
  const windows = new CurrentWindows(timeZone, now)
  const spans = rows.map(row => windows.get(row.window, row.created_at.getTime()))
  const meters = rows.map(row => toBudgetRowMeter(row, windows))
  const statuses = (await readMeters?.(meters, now)) ?? (await readLedger(db, rows, spans))
  return rows.map((row, index) => ({
    row,
    bounds: spans[index] as WindowBounds,
    spent: statuses[index]?.settled ?? 0,
    reserved: statuses[index]?.reserved ?? null,
  }))
}

async function readLedger(db: Services['db'], rows: readonly BudgetRow[], spans: readonly WindowBounds[]) {
  const totals = await sumUsage(
    db,
    rows.map((row, index) => toQuestion(row, spans[index] as WindowBounds)),
  )
  return rows.map(({ id }) => ({ settled: totals.get(id)?.cost_nano_usd ?? 0, reserved: null }))
}

function toQuestion(row: BudgetRow, { start }: WindowBounds): UsageSelector {
  const { id, org_id, project_id, scope, scope_ref, counted_ref } = row
  return {
    id,
    org_id,
    project_id,
    environment_id: scope === 'environment' ? scope_ref : null,
    key_id: scope === 'key' ? counted_ref : null,
    since: new Date(start),
    // The sandbox's fictitious prices count for a project's budgets, to test them, but not for the organization's.
    real_only: project_id === null && scope === null,
  }
}
