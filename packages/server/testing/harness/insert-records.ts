import type { Pool } from 'pg'
import { toRecordLine } from '../../core/record-line.ts'
import type { RequestRecord } from '../../core/request-record.ts'
import { insertRequestRecords, type RejectedRecord } from '../../storage/request-logs.ts'

/** Inserts records as the drain does, through their journal lines. */
export function insertRecords(
  pool: Pool,
  records: readonly RequestRecord[],
): Promise<{ rejected: RejectedRecord[] }> {
  return insertRequestRecords(pool, records.map(toRecordLine))
}
