import { CurrentWindows } from '../../core/limits/current-windows.ts'
import { toQuotaRowMeter } from '../../storage/policies/policy-meters.ts'
import type { QuotaRow } from '../../storage/policy-tables.ts'
import { findOrganization } from '../../storage/tenancy/organizations.ts'
import { sumUsage, type UsageSelector } from '../../storage/usage/usage-totals.ts'
import type { Services } from '../operation/operation.ts'
import { orResourceNotFound } from '../operation/or-not-found.ts'

export interface MeasuredQuota extends QuotaRow {
  /** Null for a quota that every end user has separately. */
  readonly used: number | null
  /** Reservations of running requests; null for a quota per end user, and if the counters cannot be read. */
  readonly reserved: number | null
  readonly resets_at: Date
}

type MeasureDeps = Pick<Services, 'db' | 'clock' | 'readMeters'>

/**
 * Returns the quotas of one organization with their usage in the whole current window, including usage before their
 * creation. The figures come from the limits' counters, or from the usage ledger if the counters cannot be read.
 */
export async function measureQuotas(
  { db, clock, readMeters }: MeasureDeps,
  orgId: string,
  rows: readonly QuotaRow[],
): Promise<MeasuredQuota[]> {
  const { time_zone } = orResourceNotFound(await findOrganization(db, orgId))
  const now = clock.now()
  const windows = new CurrentWindows(time_zone, now)
  const counted = rows.filter(row => row.scope !== 'default_end_user')
  const statuses = await readMeters?.(
    counted.map(row => toQuotaRowMeter(row, windows)),
    now,
  )
  const used =
    statuses === undefined
      ? await readLedger(db, counted, row => new Date(windows.getCalendar(row.window).start))
      : new Map(counted.map(({ id }, index) => [id, statuses[index]?.settled ?? 0]))
  const held = new Map(counted.map(({ id }, index) => [id, statuses?.[index]?.reserved]))
  return rows.map(row => {
    const { end } = windows.getCalendar(row.window)
    const [of, reserved] = [used.get(row.id) ?? null, held.get(row.id) ?? null]
    return { ...row, used: of, reserved, resets_at: new Date(end) }
  })
}

export async function measureQuota(services: MeasureDeps, row: QuotaRow): Promise<MeasuredQuota> {
  const [measured] = await measureQuotas(services, row.org_id, [row])
  return measured as MeasuredQuota
}

async function readLedger(
  db: Services['db'],
  rows: readonly QuotaRow[],
  sinceOf: (row: QuotaRow) => Date,
): Promise<Map<string, number>> {
  const totals = await sumUsage(
    db,
    rows.map(row => toQuestion(row, sinceOf(row))),
  )
  return new Map(
    rows.map(({ id, metric }) => {
      const { input_tokens = 0, output_tokens = 0, served_requests = 0 } = totals.get(id) ?? {}
      return [id, metric === 'tokens' ? input_tokens + output_tokens : served_requests]
    }),
  )
}

function toQuestion(row: QuotaRow, since: Date): UsageSelector {
  const { id, org_id, environment_id } = row
  return {
    id,
    org_id,
    environment_id,
    key_id: row.scope === 'key' ? row.counted_ref : null,
    end_user_id: row.scope === 'end_user' ? row.scope_ref : null,
    since,
  }
}
