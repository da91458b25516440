import { queryOptions, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, unwrap } from '../../api/client.ts'
import { toParams } from '../../api/workspace.ts'
import { ErrorPanel } from '../../controls/error-panel.tsx'
import { ScrollableTable } from '../../controls/scrollable-table.tsx'
import { TimeAgo } from '../../controls/time-ago.tsx'
import { toCount } from '../../format/amounts.ts'
import { useEnvironment } from '../../session/environment-context.tsx'
import { TIME_RANGES, type TimeRange } from './usage-series.ts'

export const failuresQuery = (envId: string, range: TimeRange) =>
  queryOptions({
    queryKey: ['failures', envId, range],
    queryFn: () => {
      const from = new Date(Date.now() - TIME_RANGES[range].ms).toISOString()
      return unwrap(
        api.GET('/v1/environments/{envId}/errors', { params: { path: { envId }, query: { from } } }),
      )
    },
  })

/** Lists the failed requests of the range by error code, with links to all of them and to the latest. */
export function FailurePanel({ range }: { range: TimeRange }) {
  const current = useEnvironment()
  const failures = useQuery(failuresQuery(current.environment.id, range))
  if (failures.isError) return <ErrorPanel what="Failures" error={failures.error} />
  if (failures.data === undefined || failures.data.data.length === 0) return null
  const { data, is_complete: isComplete } = failures.data
  const params = toParams(current)
  return (
    <section className="panel" aria-labelledby="failures">
      <header>
        <h2 id="failures">Failures by code</h2>
        {!isComplete && <span className="muted small">Of the newest 20,000 only</span>}
      </header>
      <ScrollableTable label="Failures by code">
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
                  params={params}
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
                  params={{ ...params, requestId }}
                >
                  <TimeAgo at={last_at} timeZone={current.organization.time_zone} />
                </Link>
              </td>
            </tr>
          ))}
        </tbody>
      </ScrollableTable>
    </section>
  )
}
