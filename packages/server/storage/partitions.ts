import type { Pool } from 'pg'

interface Partition {
  readonly parent: string
  readonly child: string
  readonly from: Date
  readonly to: Date
}

/**
 * Makes what these records' times need and is missing: the request log has a partition a UTC day, the usage ledger
 * one a UTC month. `at` is ISO 8601 in UTC.
 */
export async function createPartitions(
  pool: Pool,
  records: readonly { readonly at: string }[],
): Promise<void> {
  const needed = new Map<string, Partition>()
  for (const { at } of records) {
    for (const partition of [dayOf(at), monthOf(at)]) needed.set(partition.child, partition)
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

function dayOf(at: string): Partition {
  const from = new Date(`${at.slice(0, 10)}T00:00:00.000Z`)
  const to = new Date(from)
  to.setUTCDate(to.getUTCDate() + 1)
  return { parent: 'request_logs', child: `request_logs_${at.slice(0, 10).replaceAll('-', '')}`, from, to }
}

function monthOf(at: string): Partition {
  const from = new Date(`${at.slice(0, 7)}-01T00:00:00.000Z`)
  const to = new Date(from)
  to.setUTCMonth(to.getUTCMonth() + 1)
  return { parent: 'usage_records', child: `usage_records_${at.slice(0, 7).replaceAll('-', '')}`, from, to }
}
