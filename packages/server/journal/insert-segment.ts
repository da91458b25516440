import { existsSync } from 'node:fs'
import type { Log } from '../core/log.ts'
import { parseRecordLine } from '../core/records/record-line.ts'
import type { RecordLine } from '../core/records/request-record.ts'
import { ShortTicks } from '../core/short-ticks.ts'
import { parseOpenLine } from './open-requests.ts'
import { readSegment } from './read-segment.ts'
import type { RecordBatches } from './record-batches.ts'

export interface InsertSegmentOptions {
  readonly batches: Pick<RecordBatches, 'insertAll'>
  /** Collects open requests without a record, by id; undefined: they are running in this process. */
  readonly opens: Map<string, RecordLine> | undefined
  readonly log: Pick<Log, 'warn'>
}

/**
 * Inserts the records of a segment of the journal and returns them; none if its file is gone. Damaged lines are logged and left
 * out. Rejects with an error of the file or of the database.
 */
export async function insertSegment(
  file: string,
  { batches, opens, log }: InsertSegmentOptions,
): Promise<readonly RecordLine[]> {
  const { ended, badLines } = await readLines(file, opens)
  if (badLines > 0) log.warn({ file, badLines }, 'the journal has damaged lines, which were ignored')
  await batches.insertAll(ended)
  if (opens !== undefined) for (const { id } of ended) opens.delete(id)
  return ended
}

/** Returns the records of requests in a segment that had ended. */
export async function readEnded(file: string): Promise<readonly RecordLine[]> {
  const { ended } = await readLines(file, undefined)
  return ended
}

async function readLines(
  file: string,
  opens: Map<string, RecordLine> | undefined,
): Promise<{ readonly ended: readonly RecordLine[]; readonly badLines: number }> {
  if (!existsSync(file)) return { ended: [], badLines: 0 }
  const { records, badLines } = await readSegment(file)
  const ended: RecordLine[] = []
  const ticks = new ShortTicks()
  for (const json of records) {
    if (ticks.isOver) await ticks.next()
    const opened = parseOpenLine(json)
    if (opened === undefined) ended.push(parseRecordLine(json))
    else if (opens !== undefined) {
      const line = parseRecordLine(opened)
      opens.set(line.id, line)
    }
  }
  return { ended, badLines }
}
