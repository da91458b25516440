import { toLimitRowMeter } from '../../storage/policies/policy-meters.ts'
import type { LimitRow } from '../../storage/policy-tables.ts'
import type { Services } from '../operation/operation.ts'

export interface MeasuredLimit extends LimitRow {
  /** By ended requests; null for a limit that every end user has separately, and if the counters cannot be read. */
  readonly used: number | null
  /** What running requests have reserved; null where `used` is. */
  readonly reserved: number | null
}

type MeasureDeps = Pick<Services, 'clock' | 'readMeters'>

/** Returns the limits of one organization with their usage now, by the counters that the next request is checked against. */
export async function measureLimits(
  { clock, readMeters }: MeasureDeps,
  rows: readonly LimitRow[],
): Promise<MeasuredLimit[]> {
  const counted = rows.filter(({ scope }) => scope !== 'default_end_user')
  const statuses = await readMeters?.(counted.map(toLimitRowMeter), clock.now())
  const byId = new Map(counted.map(({ id }, index) => [id, statuses?.[index]]))
  return rows.map(row => {
    const status = byId.get(row.id)
    return { ...row, used: status?.settled ?? null, reserved: status?.reserved ?? null }
  })
}

export async function measureLimit(services: MeasureDeps, row: LimitRow): Promise<MeasuredLimit> {
  const [measured] = await measureLimits(services, [row])
  return measured as MeasuredLimit
}
