const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** `2 min ago`, `in 3 days`. */
export function toRelativeTime(at: number, now: number): string {
  const distance = Math.abs(now - at)
  if (distance < 45_000) return 'now'
  const [amount, unit] =
    distance < HOUR_MS
      ? [Math.round(distance / MINUTE_MS), 'min']
      : distance < DAY_MS
        ? [Math.round(distance / HOUR_MS), 'h']
        : [Math.round(distance / DAY_MS), distance < 1.5 * DAY_MS ? 'day' : 'days']
  return at <= now ? `${amount} ${unit} ago` : `in ${amount} ${unit}`
}

/** `22 Nov 2026, 14:03:07` in the zone. */
export function toDateTime(at: number, timeZone: string): string {
  const parts = new Map(
    formatFor(timeZone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  )
  const get = (name: Intl.DateTimeFormatPartTypes): string => parts.get(name) ?? ''
  return `${get('day')} ${get('month')} ${get('year')}, ${get('hour')}:${get('minute')}:${get('second')}`
}

/** `14:03:07.1` in the zone, for lists of one day. */
export function toClockTime(at: number, timeZone: string): string {
  return `${toDateTime(at, timeZone).split(', ')[1]}.${Math.floor((at % 1000) / 100)}`
}

/** `22 Nov` in the zone. */
export function toDay(at: number, timeZone: string): string {
  return toDateTime(at, timeZone).replace(/ \d{4}, .*$/, '')
}

/** Returns the start of a bucket in the zone, as short as the bucket's length allows: `14:03`, `22 Nov 14:00`, `22 Nov`. */
export function toBucketTime(at: number, bucketSeconds: number, timeZone: string): string {
  const time = toClockTime(at, timeZone).slice(0, 5)
  if (bucketSeconds <= 1_800) return time
  const day = toDay(at, timeZone)
  return bucketSeconds >= 86_400 ? day : `${day} ${time}`
}

/** `resets 1 Dec` at midnight of the zone, else `resets 1 Dec, 14:00`. */
export function toReset(at: number, timeZone: string): string {
  const [day = '', time = ''] = toDateTime(at, timeZone).split(', ')
  const date = day.replace(/ \d{4}$/, '')
  return time === '00:00:00' ? `resets ${date}` : `resets ${date}, ${time.slice(0, 5)}`
}

const formats = new Map<string, Intl.DateTimeFormat>()

function formatFor(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone)
  if (known !== undefined) return known
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  })
  formats.set(timeZone, format)
  return format
}
