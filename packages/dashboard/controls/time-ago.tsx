import { toDateTime, toRelativeTime } from '../format/times.ts'
import { useNow } from './use-now.ts'

interface TimeAgoProps {
  /** ISO 8601, or null if it never happened. */
  readonly at: string | null
  readonly timeZone: string
  readonly never?: string
}

/** Shows a time relative to now. The exact time with its zone is in the title. */
export function TimeAgo({ at, timeZone, never = 'never' }: TimeAgoProps) {
  const now = useNow()
  if (at === null) return <span className="muted">{never}</span>
  const ms = Date.parse(at)
  return (
    <time dateTime={at} title={`${toDateTime(ms, timeZone)} ${timeZone}`}>
      {toRelativeTime(ms, now)}
    </time>
  )
}
