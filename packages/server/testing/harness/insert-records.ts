import type { Pool } from 'pg'
import { toLineWithRecord } from '../../core/records/record-line.ts'
import type { RequestRecord } from '../../core/records/request-record.ts'
import { openPackedBatches } from '../../storage/records/packed-batch.ts'
import { insertRequestRecords, type RejectedRecord } from '../../storage/records/request-logs.ts'

/** Inserts records as the drain does, in one batch. */
export async function insertRecords(
  pool: Pool,
  records: readonly RequestRecord[],
): Promise<{ rejected: RejectedRecord[] }> {
  const rejected: RejectedRecord[] = []
  const openBatch = openPackedBatches({
    pool,
    insertLines: async lines => void rejected.push(...(await insertRequestRecords(pool, lines)).rejected),
  })
  const batch = openBatch()
  for (const record of records) batch.add(toLineWithRecord(record), true)
  await batch.insert(() => true)
  batch.release()
  return { rejected }
}
