import { toTable } from '../../../json/to-table.ts'
import type { ErrorWords } from './error-words.ts'

export type ReplyHeaders = Readonly<Record<string, string | string[] | undefined>>

/** A provider that asks for more than a day is not waited for anyway. */
export const MAX_WAIT_MS = 24 * 60 * 60 * 1000

/** How long a provider asks to wait, in milliseconds, from its headers or its error. */
export function findRetryAfterMs(headers: ReplyHeaders, words: ErrorWords): number | undefined {
  const candidates = [
    toNumber(first(headers['retry-after-ms'])),
    parseRetryAfter(first(headers['retry-after']), first(headers.date)),
    words.retryDelay === undefined ? undefined : parseDuration(words.retryDelay),
    findInText(words.message),
    findReset(headers),
  ]
  const wait = candidates.find(ms => ms !== undefined)
  return wait === undefined ? undefined : Math.min(Math.ceil(wait), MAX_WAIT_MS)
}

/** Seconds, a Go duration, or a date, which is taken against the answer's own: the two clocks may differ. */
function parseRetryAfter(value: string | undefined, date: string | undefined): number | undefined {
  if (value === undefined) return undefined
  const seconds = toNumber(value)
  if (seconds !== undefined) return seconds * 1000
  const duration = parseDuration(value)
  if (duration !== undefined) return duration
  const until = Date.parse(value)
  const now = date === undefined ? Number.NaN : Date.parse(date)
  return Number.isNaN(until) || Number.isNaN(now) ? undefined : Math.max(0, until - now)
}

function findInText(message: string): number | undefined {
  const found = /(?:try again|retry) (?:in|after) ([0-9][0-9.hms]{0,30})( seconds?| minutes?)?/i.exec(
    message.slice(0, 2000),
  )
  if (found === null) return undefined
  const [, amount = '', unit = ''] = found
  // A sentence's full stop is no part of the number.
  const text = amount.replace(/\.+$/, '')
  if (unit === '') return parseDuration(text)
  const count = toNumber(text)
  return count === undefined ? undefined : count * (unit.includes('minute') ? 60_000 : 1000)
}

/** The reset of the limit that is used up. */
function findReset(headers: ReplyHeaders): number | undefined {
  for (const what of ['requests', 'tokens']) {
    if (first(headers[`x-ratelimit-remaining-${what}`]) !== '0') continue
    const reset = first(headers[`x-ratelimit-reset-${what}`])
    if (reset === undefined) continue
    const seconds = toNumber(reset)
    const wait = seconds === undefined ? parseDuration(reset) : seconds * 1000
    if (wait !== undefined) return wait
  }
  return undefined
}

const UNIT_MS: Readonly<Record<string, number>> = toTable({ h: 3_600_000, m: 60_000, s: 1000, ms: 1 })

/** Parses a duration that Go wrote, such as `6m0s`, `1.574s` or `120ms`. Returns milliseconds. */
export function parseDuration(text: string): number | undefined {
  if (!/^(?:[0-9]{1,12}(?:\.[0-9]{1,12})?(?:h|ms|m|s))+$/.test(text)) return undefined
  let total = 0
  for (const [, amount, unit] of text.matchAll(/([0-9.]+)(h|ms|m|s)/g)) {
    total += Number(amount) * (UNIT_MS[unit ?? ''] ?? 0)
  }
  return total
}

/** A plain, non-negative decimal. */
function toNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^[0-9]{1,12}(?:\.[0-9]{1,12})?$/.test(text) ? Number(text) : undefined
}

function first(value: string | string[] | undefined): string | undefined {
  return (Array.isArray(value) ? value[0] : value)?.trim()
}
