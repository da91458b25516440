import type { Pool } from 'pg'
import { toRecordLine } from '../../core/record-line.ts'
import type { RequestRecord } from '../../core/request-record.ts'
import { insertRequestRecords, type RejectedRecord } from '../../storage/request-logs.ts'

/** Records as a test has them, on the way that the journal's take. */
export function insertRecords(
  pool: Pool,
  records: readonly RequestRecord[],
): Promise<{ rejected: RejectedRecord[] }> {
  return insertRequestRecords(pool, records.map(toRecordLine))
}
