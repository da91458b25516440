import type { RecordLine } from '../../core/records/request-record.ts'
import { ShortTicks } from '../../core/short-ticks.ts'
import { ChunkPool } from './chunk-pool.ts'
import { parseRecordJson, RecordEncoder } from './record-encoder.ts'
import type { EncodedRecord } from './store-batch.ts'
import { TextChunks } from './text-chunks.ts'

/**
 * Returns the rows of lines, each id once and in one order: concurrent writers then never wait for each other in a circle.
 * Throws an UnstorableValue.
 */
export async function encodeBatch(lines: readonly RecordLine[]): Promise<EncodedRecord[]> {
  const ids = new Set<string>()
  const batch: EncodedRecord[] = []
  const encoder = new RecordEncoder()
  const texts = new TextChunks(new ChunkPool())
  const ticks = new ShortTicks()
  for (const line of lines) {
    if (ticks.isOver) await ticks.next()
    if (ids.has(line.id)) continue
    ids.add(line.id)
    batch.push(encode(line, encoder, texts))
  }
  return batch.sort((a, b) => (a.id < b.id ? -1 : 1))
}

function encode({ id, json }: RecordLine, encoder: RecordEncoder, texts: TextChunks): EncodedRecord {
  const record = parseRecordJson(json)
  const { start, usageEnd, logEnd } = encoder.encode(record, json, texts)
  return { id, day: record.at.slice(0, 10), bytes: texts.current, start, usageEnd, logEnd, record }
}
