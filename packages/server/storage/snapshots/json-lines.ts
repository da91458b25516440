import type { ShortTicks } from '../../core/short-ticks.ts'

/**
 * SQL: the JSON objects of all rows, one in a line; null without rows. An environment may have tens of thousands, so they are parsed one by
 * one: a single JSON text of all of them would hold the event loop for as long as it takes. JSON has no line break but between its values,
 * and PostgreSQL writes none there.
 */
export function jsonLines(object: string, order?: string): string {
  return `string_agg((${object})::text, E'\\n'${order === undefined ? '' : ` order by ${order}`})`
}

/** Converts the object of each line. */
export async function readLines<T, R>(
  lines: string | null,
  ticks: ShortTicks,
  convert: (object: T) => R,
): Promise<R[]> {
  const read: R[] = []
  if (lines === null) return read
  for (let start = 0; start < lines.length; ) {
    const found = lines.indexOf('\n', start)
    const end = found < 0 ? lines.length : found
    read.push(convert(JSON.parse(lines.slice(start, end))))
    start = end + 1
    if (ticks.isOver) await ticks.next()
  }
  return read
}
