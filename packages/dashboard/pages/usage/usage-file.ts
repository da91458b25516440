import type { PivotRow } from './usage-pivot.ts'

const COLUMNS = [
  'requests',
  'errors',
  'inputTokens',
  'outputTokens',
  'cachedTokens',
  'costUsd',
  'unpriced',
] as const
const HEAD = 'requests,errors,input_tokens,output_tokens,cached_tokens,cost_usd,unpriced_requests'

/** Returns the table as CSV with one line for each row and day, so that its sums equal those of the table. */
export function toCsv(pivot: readonly PivotRow[], head: string, nameOf: (row: PivotRow) => string): string {
  const lines = pivot.flatMap(row =>
    [...row.days].map(([date, sums]) =>
      [toIsoDate(date), toCell(nameOf(row)), ...COLUMNS.map(name => toPlain(sums[name]))].join(','),
    ),
  )
  return `${[`day,${toCell(head)},${HEAD}`, ...lines].join('\r\n')}\r\n`
}

/** Matches a formula at the start of a text or after a separator, like control/operation/csv.ts. */
const FORMULA = /(?<=(?:^|[,;|\t\r\n])[\s"']*)[=+\-@\uff1d\uff0b\uff0d\uff20]/g

/** Quotes a text, and keeps a spreadsheet from running it as a formula. */
function toCell(text: string): string {
  const safe = text.replace(FORMULA, "'$&")
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** Writes a number without an exponent, with up to nine decimals. */
function toPlain(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(9).replace(/0+$/, '')
}

/** `22 Nov 2026` as `2026-11-22`. */
function toIsoDate(date: string): string {
  const at = new Date(`${date} 00:00:00 UTC`)
  return at.toISOString().slice(0, 10)
}
