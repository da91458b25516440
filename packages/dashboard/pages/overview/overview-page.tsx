import { usePrefetchQuery, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { api, unwrap } from '../../api/client.ts'
import { toParams } from '../../api/workspace.ts'
import { Chart } from '../../charts/chart.tsx'
import { ErrorPanel } from '../../controls/error-panel.tsx'
import { SelectField } from '../../controls/field.tsx'
import { EmptyState } from '../../controls/list-state.tsx'
import { PageHeader } from '../../controls/page-header.tsx'
import { toCount, toDuration, toPercent } from '../../format/amounts.ts'
import { toMoney } from '../../format/money.ts'
import { useEnvironment } from '../../session/environment-context.tsx'
import { BudgetPanel } from './budget-panel.tsx'
import { CircuitPanel } from './circuit-panel.tsx'
import { FailurePanel, failuresQuery } from './failure-panel.tsx'
import './overview.css'
import { ModelPanel, modelUsageQuery } from './model-panel.tsx'
import {
  type Bucket,
  loadTotal,
  loadUsage,
  TIME_RANGES,
  type TimeRange,
  type Totals,
  toBuckets,
  toTotals,
  type Usage,
} from './usage-series.ts'

const REFRESH_MS = 30_000

export function OverviewPage() {
  const current = useEnvironment()
  const { range = '24h' }: { range?: TimeRange } = useSearch({
    from: '/signed-in/o/$org/$project/$environment/overview',
  })
  const navigate = useNavigate()
  const envId = current.environment.id
  // These panels are rendered after the usage has arrived; their calls start with it.
  usePrefetchQuery(modelUsageQuery(envId, range))
  usePrefetchQuery(failuresQuery(envId, range))
  const live = { refetchInterval: REFRESH_MS, meta: { isQuiet: true } }
  const usage = useQuery({
    queryKey: ['usage', envId, range],
    queryFn: async () => {
      const now = Date.now()
      const [rows, total] = await Promise.all([loadUsage(envId, range, now), loadTotal(envId, range, now)])
      return { now, rows, total }
    },
    ...live,
  })
  const circuits = useQuery({
    queryKey: ['circuits', envId],
    queryFn: () =>
      unwrap(
        api.GET('/v1/environments/{envId}/circuits', { params: { path: { envId }, query: { limit: 100 } } }),
      ),
    ...live,
  })
  const open = circuits.data?.data.filter(({ state }) => state !== 'closed') ?? []
  const totals = usage.data === undefined ? undefined : toTotals(usage.data.rows)
  return (
    <>
      <PageHeader
        title="Overview"
        description={
          totals === undefined ? 'Is it healthy, and what does it cost?' : toDescription(totals, range)
        }
        actions={
          <SelectField
            label="Time"
            data-range
            value={range}
            onChange={event =>
              void navigate({
                to: '/o/$org/$project/$environment/overview',
                params: toParams(current),
                search: event.target.value === '24h' ? {} : { range: event.target.value as TimeRange },
              })
            }
          >
            {Object.entries(TIME_RANGES).map(([name, { label }]) => (
              <option key={name} value={name}>
                {label}
              </option>
            ))}
          </SelectField>
        }
      />
      {open.length > 0 && <CircuitPanel circuits={open} />}
      {usage.isPending && <FiguresSkeleton />}
      {usage.isError && usage.data === undefined && (
        <ErrorPanel what="Usage" error={usage.error} onRetry={() => void usage.refetch()} />
      )}
      {totals?.requests === 0 && <NoRequests range={range} />}
      {usage.data !== undefined && totals !== undefined && totals.requests > 0 && (
        <Figures
          rows={usage.data.rows}
          whole={usage.data.total}
          now={usage.data.now}
          totals={totals}
          range={range}
        />
      )}
      {totals !== undefined && totals.errors > 0 && <FailurePanel range={range} />}
      <BudgetPanel />
    </>
  )
}

/** Placeholders where Figures has its tiles and charts, so that nothing moves when they arrive. */
function FiguresSkeleton() {
  return (
    <div role="status" aria-label="Loading" className="figures-skeleton">
      <div className="tiles">
        {Array.from({ length: 6 }, (_, index) => (
          <div key={index} className="skeleton tile" />
        ))}
      </div>
      <div className="charts">
        {Array.from({ length: 4 }, (_, index) => (
          <div key={index} className="skeleton panel" />
        ))}
      </div>
    </div>
  )
}

interface FiguresProps {
  readonly rows: readonly Usage[]
  /** The usage of the whole range as one row. */
  readonly whole: Usage | undefined
  readonly now: number
  readonly totals: Totals
  readonly range: TimeRange
}

function Figures({ rows, whole, now, totals, range }: FiguresProps) {
  const current = useEnvironment()
  const navigate = useNavigate()
  const { time_zone: timeZone } = current.organization
  const buckets = useMemo(() => toBuckets(rows, range, now, timeZone), [rows, range, now, timeZone])
  const labels = useMemo(() => buckets.map(({ label }) => label), [buckets])
  const { counts, latencies, costs } = useMemo(() => toSeries(buckets), [buckets])
  const bucketName = range === '24h' ? 'hour' : 'day'
  const openLogs = (first: number, last: number): void => {
    const [from, to] = [buckets[first], buckets[last]]
    if (from === undefined || to === undefined) return
    void navigate({
      to: '/o/$org/$project/$environment/logs',
      params: toParams(current),
      search: { from: new Date(from.at).toISOString(), to: new Date(to.end).toISOString() },
    })
  }
  return (
    <>
      <dl className="tiles">
        <Tile name="Requests" value={toCount(totals.requests)} />
        <Tile
          name="Failed"
          value={toPercent(totals.errors / totals.requests)}
          note={`${toCount(totals.errors)} ${totals.errors === 1 ? 'request' : 'requests'}`}
        />
        <Tile name="Tokens" value={toCount(totals.tokens)} />
        <Tile
          name="Cost"
          value={toMoney(totals.costUsd)}
          note={totals.unpriced === 0 ? undefined : `+ ${toCount(totals.unpriced)} unpriced`}
        />
        <PercentileTile name="Latency p95" p50={whole?.latency_ms_p50} p95={whole?.latency_ms_p95} />
        <PercentileTile
          name="First token p95"
          p50={whole?.first_byte_ms_p50}
          p95={whole?.first_byte_ms_p95}
        />
      </dl>
      <div className="charts">
        <Chart
          title="Requests by outcome"
          caption={`By ${bucketName}, ${timeZone}. Click a bar for requests.`}
          labels={labels}
          series={counts}
          kind="bars"
          unit="count"
          isLastRunning
          onSelect={openLogs}
        />
        <Chart
          title="Latency"
          caption={`By ${bucketName}. A gap means no requests.`}
          labels={labels}
          series={latencies}
          kind="lines"
          unit="ms"
          isLastRunning
        />
        <Chart
          title="Cost in US dollars"
          caption={`By ${bucketName}, without the sandbox.`}
          labels={labels}
          series={costs}
          kind="bars"
          unit="usd"
          isLastRunning
          onSelect={openLogs}
        />
        <ModelPanel range={range} />
      </div>
    </>
  )
}

function PercentileTile(of: {
  name: string
  p50?: number | null | undefined
  p95?: number | null | undefined
}) {
  const { name, p50, p95 } = of
  const note = p50 == null ? undefined : `median ${toDuration(p50)}`
  return <Tile name={name} value={p95 == null ? '–' : toDuration(p95)} note={note} />
}

function Tile({ name, value, note }: { name: string; value: string; note?: string | undefined }) {
  return (
    <div className="panel tile">
      <dt>{name}</dt>
      <dd>{value}</dd>
      {note !== undefined && <dd className="note">{note}</dd>}
    </div>
  )
}

function toSeries(buckets: readonly Bucket[]) {
  return {
    counts: [
      {
        name: 'Answered',
        color: '--status-2xx',
        values: buckets.map(bucket => bucket.requests - bucket.errors),
      },
      { name: 'Failed', color: '--status-5xx', values: buckets.map(bucket => bucket.errors) },
    ],
    latencies: [
      { name: 'p50', color: '--series-1', values: buckets.map(bucket => bucket.p50Ms) },
      { name: 'p95', color: '--series-3', values: buckets.map(bucket => bucket.p95Ms) },
    ],
    costs: [{ name: 'Cost', color: '--series-1', values: buckets.map(bucket => bucket.costUsd) }],
  }
}

function toDescription({ requests, errors, costUsd }: Totals, range: TimeRange): string {
  const { words } = TIME_RANGES[range]
  if (requests === 0) return `No requests in ${words}.`
  const failed = errors === 0 ? 'none failed' : `${toPercent(errors / requests)} failed`
  return `${toCount(requests)} ${requests === 1 ? 'request' : 'requests'} in ${words}, ${failed}, ${toMoney(costUsd)}.`
}

function NoRequests({ range }: { range: TimeRange }) {
  const params = toParams(useEnvironment())
  return (
    <div className="panel">
      <EmptyState title="No requests here yet">
        <p>Send the first one from the playground.</p>
        <div className="row">
          <Link className="button primary" to="/o/$org/$project/$environment/playground" params={params}>
            Open the playground
          </Link>
          {range !== '30d' && (
            <Link
              className="button"
              to="/o/$org/$project/$environment/overview"
              params={params}
              search={{ range: '30d' }}
            >
              Show 30 days
            </Link>
          )}
        </div>
      </EmptyState>
    </div>
  )
}
