import { useQuery } from '@tanstack/react-query'
import { toCount } from '../../format/amounts.ts'
import { toDateTime } from '../../format/times.ts'
import { useEnvironment } from '../../session/environment-context.tsx'
import { previewRule } from './rule-calls.ts'
import type { RulePreviewInput } from './rules.ts'

const WEEK_MS = 7 * 86_400_000

/** Shows what a rule would have refused in the last 7 days. */
export function RulePreview({ previewInput }: { previewInput: RulePreviewInput }) {
  const { environment, organization } = useEnvironment()
  const { id } = environment
  const { time_zone: timeZone } = organization
  const preview = useQuery({
    queryKey: ['preview', id, previewInput],
    queryFn: () => previewRule(id, previewInput),
    placeholderData: previous => previous,
    retry: false,
  })
  if (preview.isError) return <span className="muted">cannot be tried: {preview.error.message}</span>
  if (preview.data === undefined) return <span className="muted">counting…</span>
  const { from, to, requests, refused, affected, is_complete: isComplete } = preview.data
  const time =
    Date.parse(to) - Date.parse(from) < WEEK_MS ? `of the newest ${toCount(requests)}` : 'last week'
  // Requests before the sample are not counted, so more may have been refused than is shown.
  const sampleNote = isComplete
    ? ''
    : `; there were too many requests to try them all, so this counts those since ${toDateTime(Date.parse(from), timeZone)}`
  if (requests === 0)
    return (
      <span className="muted">
        no requests {time}
        {sampleNote}
      </span>
    )
  if (refused === 0)
    return (
      <>
        would have refused none of {toCount(requests)} {time}
        {sampleNote}
      </>
    )
  return (
    <>
      would have refused <strong>{toCount(refused)}</strong> of {toCount(requests)} {time}
      {previewInput.scope === 'default_end_user' &&
        `, of ${toCount(affected)} end ${affected === 1 ? 'user' : 'users'}`}
      {sampleNote}
    </>
  )
}
