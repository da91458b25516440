import { queryOptions, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { Chart } from '../../charts/chart.tsx'
import { toCount } from '../../format/amounts.ts'
import { toBucketTime } from '../../format/times.ts'
import { useEnvironment } from '../../session/environment-context.tsx'
import { getLogHistogram } from './log-calls.ts'
import type { LogQuery } from './log-search.ts'

const HEIGHT_PX = 100

export const logHistogramQuery = (envId: string, query: LogQuery) =>
  queryOptions({ queryKey: ['log-histogram', envId, query], queryFn: () => getLogHistogram(envId, query) })

interface LogHistogramProps {
  readonly envId: string
  readonly query: LogQuery
  /** Called with the start and the end of the selected bars. */
  readonly onSelect: (from: string, to: string) => void
}

/** Shows how many requests match over time, with failures on top. A click on a bar, or a drag over several, narrows the time to them. */
export function LogHistogram({ envId, query, onSelect }: LogHistogramProps) {
  const { time_zone: timeZone } = useEnvironment().organization
  const { data } = useQuery({ ...logHistogramQuery(envId, query), placeholderData: previous => previous })
  const drawn = useMemo(() => {
    const buckets = data?.data ?? []
    return {
      labels: buckets.map(({ at }) => toBucketTime(Date.parse(at), data?.bucket_seconds ?? 60, timeZone)),
      series: [
        {
          name: 'Answered',
          color: '--status-2xx',
          values: buckets.map(({ requests, errors }) => requests - errors),
        },
        { name: 'Failed', color: '--status-5xx', values: buckets.map(({ errors }) => errors) },
      ],
    }
  }, [data, timeZone])
  if (data === undefined) return <div className="panel" style={{ height: HEIGHT_PX + 76 }} />
  const sum = data.data.reduce((total, { requests }) => total + requests, 0)
  return (
    <Chart
      title="Matching requests"
      caption={`${toCount(sum)} ${sum === 1 ? 'request' : 'requests'}${data.is_complete ? '' : ', the newest that match'}. Click a bar, or drag across several, to narrow the time.`}
      kind="bars"
      unit="count"
      heightPx={HEIGHT_PX}
      {...drawn}
      onSelect={(first, last) => {
        const [from, to] = [data.data[first], data.data[last]]
        if (from === undefined || to === undefined) return
        onSelect(from.at, new Date(Date.parse(to.at) + data.bucket_seconds * 1000).toISOString())
      }}
    />
  )
}
