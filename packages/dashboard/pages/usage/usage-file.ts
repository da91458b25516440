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

/** What the page shows as CSV: each row by day, so that the sums of the file are those of the table. */
export function toCsv(pivot: readonly PivotRow[], head: string, nameOf: (row: PivotRow) => string): string {
  const lines = pivot.flatMap(row =>
    [...row.days].map(([date, sums]) =>
      [toIsoDate(date), toCell(nameOf(row)), ...COLUMNS.map(name => toPlain(sums[name]))].join(','),
    ),
  )
  return `${[`day,${toCell(head)},${HEAD}`, ...lines].join('\r\n')}\r\n`
}

/** As control/operation/csv.ts has it: at the start, and after each separator of any language's spreadsheet. */
const FORMULA = /(?<=(?:^|[,;|\t\r\n])[\s"']*)[=+\-@\uff1d\uff0b\uff0d\uff20]/g

/** Quotes a text, and keeps a spreadsheet from reading one that somebody chose as a formula. */
function toCell(text: string): string {
  const safe = text.replace(FORMULA, "'$&")
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** Without an exponent, to the nano-dollar. */
function toPlain(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(9).replace(/0+$/, '')
}

/** `22 Nov 2026` as `2026-11-22`. */
function toIsoDate(date: string): string {
  const at = new Date(`${date} 00:00:00 UTC`)
  return at.toISOString().slice(0, 10)
}
