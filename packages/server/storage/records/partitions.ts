import type { Pool } from 'pg'

export interface Partition {
  readonly parent: string
  readonly child: string
  readonly from: Date
  readonly to: Date
}

/**
 * Creates the partitions for records of these UTC days (`2026-11-21`) that do not exist yet. The request log has a
 * partition a day, usage records have one a month.
 */
export async function createPartitions(pool: Pool, days: Iterable<string>): Promise<void> {
  const needed = new Map<string, Partition>()
  for (const day of days) {
    for (const partition of [toDayPartition(day), toMonthPartition(day)])
      needed.set(partition.child, partition)
  }
  const { rows } = await pool.query<{ child: string }>({
    name: 'find_missing_partitions',
    text: `select child from unnest($1::text[]) as child where not exists (
      select from pg_class where relname = child and relnamespace = current_schema()::regnamespace)`,
    values: [[...needed.keys()]],
  })
  for (const { child } of rows) {
    const { parent, from, to } = needed.get(child) as Partition
    await pool.query('select make_partition($1, $2, $3, $4)', [parent, child, from, to])
  }
}

export function toDayPartition(day: string): Partition {
  const from = new Date(`${day}T00:00:00.000Z`)
  const to = new Date(from)
  to.setUTCDate(to.getUTCDate() + 1)
  return { parent: 'request_logs', child: `request_logs_${day.replaceAll('-', '')}`, from, to }
}

export function toMonthPartition(day: string): Partition {
  const from = new Date(`${day.slice(0, 7)}-01T00:00:00.000Z`)
  const to = new Date(from)
  to.setUTCMonth(to.getUTCMonth() + 1)
  return { parent: 'usage_records', child: `usage_records_${day.slice(0, 7).replaceAll('-', '')}`, from, to }
}
