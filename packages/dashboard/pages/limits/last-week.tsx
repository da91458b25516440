import { useQuery } from '@tanstack/react-query'
import { toCount } from '../../format/amounts.ts'
import { toDateTime } from '../../format/times.ts'
import { usePlace } from '../../session/place-context.tsx'
import { tryRule } from './rule-calls.ts'
import type { Question } from './rules.ts'

const WEEK_MS = 7 * 86_400_000

/** What a rule would have refused of the last 7 days. */
export function LastWeek({ question }: { question: Question }) {
  const { environment, organization } = usePlace()
  const { id } = environment
  const { time_zone: timeZone } = organization
  const tried = useQuery({
    queryKey: ['tried', id, question],
    queryFn: () => tryRule(id, question),
    placeholderData: previous => previous,
    retry: false,
  })
  if (tried.isError) return <span className="muted">cannot be tried: {tried.error.message}</span>
  if (tried.data === undefined) return <span className="muted">counting…</span>
  const { from, to, requests, refused, affected, is_complete: isComplete } = tried.data
  const time =
    Date.parse(to) - Date.parse(from) < WEEK_MS ? `of the newest ${toCount(requests)}` : 'last week'
  // What there was before is not known: that may be more than what is shown.
  const cut = isComplete
    ? ''
    : `; there were too many requests to try them all, so it was tried on those since ${toDateTime(Date.parse(from), timeZone)}`
  if (requests === 0)
    return (
      <span className="muted">
        no requests {time}
        {cut}
      </span>
    )
  if (refused === 0)
    return (
      <>
        would have refused none of {toCount(requests)} {time}
        {cut}
      </>
    )
  return (
    <>
      would have refused <strong>{toCount(refused)}</strong> of {toCount(requests)} {time}
      {question.scope === 'default_end_user' &&
        `, of ${toCount(affected)} end ${affected === 1 ? 'user' : 'users'}`}
      {cut}
    </>
  )
}
