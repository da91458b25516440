import { queryOptions, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { answerOf, api } from '../../api/client.ts'
import { toNames } from '../../api/workspace.ts'
import { ErrorPanel } from '../../controls/error-panel.tsx'
import { TableFrame } from '../../controls/table-frame.tsx'
import { TimeAgo } from '../../controls/time-ago.tsx'
import { toCount } from '../../format/amounts.ts'
import { usePlace } from '../../session/place-context.tsx'
import { SPANS, type Span } from './usage-series.ts'

export const failuresQuery = (envId: string, range: Span) =>
  queryOptions({
    queryKey: ['failures', envId, range],
    queryFn: () => {
      const from = new Date(Date.now() - SPANS[range].ms).toISOString()
      return answerOf(
        api.GET('/v1/environments/{envId}/errors', { params: { path: { envId }, query: { from } } }),
      )
    },
  })

/** The failed requests of the range by their code, each with a way to all of them and to the latest. */
export function FailurePanel({ range }: { range: Span }) {
  const place = usePlace()
  const failures = useQuery(failuresQuery(place.environment.id, range))
  if (failures.isError) return <ErrorPanel what="Failures" error={failures.error} />
  if (failures.data === undefined || failures.data.data.length === 0) return null
  const { data, is_complete: isComplete } = failures.data
  const names = toNames(place)
  return (
    <section className="panel" aria-labelledby="failures">
      <header>
        <h2 id="failures">Failures by code</h2>
        {!isComplete && <span className="muted small">Of the newest 20,000 alone</span>}
      </header>
      <TableFrame label="Failures by code">
        <thead>
          <tr>
            <th scope="col">Code</th>
            <th scope="col" className="number">
              Requests
            </th>
            <th scope="col">Last</th>
          </tr>
        </thead>
        <tbody>
          {data.slice(0, 10).map(({ error_code: code, requests, last_at, request_id: requestId }) => (
            <tr key={code}>
              <td>
                <Link
                  className="text-link"
                  to="/o/$org/$project/$environment/logs"
                  params={names}
                  search={{ error_code: code, range }}
                >
                  {code}
                </Link>
              </td>
              <td className="number">{toCount(requests)}</td>
              <td>
                <Link
                  className="text-link"
                  to="/o/$org/$project/$environment/logs/$requestId"
                  params={{ ...names, requestId }}
                >
                  <TimeAgo at={last_at} timeZone={place.organization.time_zone} />
                </Link>
              </td>
            </tr>
          ))}
        </tbody>
      </TableFrame>
    </section>
  )
}
