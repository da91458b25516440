import { useQuery } from '@tanstack/react-query'
import type { Resource } from '../../api/client.ts'
import { ErrorPanel } from '../../controls/error-panel.tsx'
import { MeterBar } from '../../controls/meter-bar.tsx'
import { Skeleton } from '../../controls/skeleton.tsx'
import { toCount, toPercent } from '../../format/amounts.ts'
import { toMoney } from '../../format/money.ts'
import { toReset } from '../../format/times.ts'
import { useEnvironment } from '../../session/environment-context.tsx'
import './limits.css'
import { ScrollableTable } from '../../controls/scrollable-table.tsx'
import { toSpan } from './rules.ts'

type EffectiveLimit = Resource<'EffectiveLimit'>
type EffectiveLimits = Resource<'EffectiveLimits'>

interface EffectiveLimitsPanelProps {
  /** Identifies the key or end user in the query's key. */
  readonly name: string
  readonly load: () => Promise<EffectiveLimits>
}

/** Lists every limit that can refuse the next request, with what is used now. */
export function EffectiveLimitsPanel({ name, load }: EffectiveLimitsPanelProps) {
  const limits = useQuery({ queryKey: ['effective-limits', name], queryFn: load })
  return (
    <section className="panel" aria-labelledby="binding">
      <header>
        <h2 id="binding">What limits the next request</h2>
      </header>
      {limits.isPending && (
        <div className="padded">
          <Skeleton rows={2} />
        </div>
      )}
      {limits.isError && (
        <ErrorPanel what="Limits" error={limits.error} onRetry={() => void limits.refetch()} />
      )}
      {limits.data?.data.length === 0 && <p className="padded muted">Nothing limits it.</p>}
      {limits.data !== undefined && limits.data.data.length > 0 && <LimitTable limits={limits.data.data} />}
      {limits.data?.note != null && <p className="padded small muted">{limits.data.note}</p>}
    </section>
  )
}

function LimitTable({ limits }: { limits: readonly EffectiveLimit[] }) {
  return (
    <ScrollableTable label="Limits" variant="rules">
      <thead>
        <tr>
          <th scope="col">Counted for</th>
          <th scope="col">Limit</th>
          <th scope="col">Used now</th>
        </tr>
      </thead>
      <tbody>
        {limits.map(limit => (
          <tr key={`${limit.kind} ${limit.id} ${limit.metric} ${limit.window ?? limit.window_seconds}`}>
            <td>{SCOPES[limit.scope]}</td>
            <td>
              {toSentence(limit)}
              <code className="small code wide-only" title="The error code of a refused request">
                {limit.error_code}
              </code>
            </td>
            <td>
              <Used limit={limit} />
            </td>
          </tr>
        ))}
      </tbody>
    </ScrollableTable>
  )
}

function Used({ limit: { used, reserved, limit, metric, resets_at: resetsAt } }: { limit: EffectiveLimit }) {
  const { time_zone: timeZone } = useEnvironment().organization
  if (used === null) return <span className="muted">unknown</span>
  const format = metric === 'usd' ? toMoney : toCount
  const share = limit === 0 ? 1 : used / limit
  return (
    <div className="used">
      <span>
        {format(used)} ({toPercent(share)})
        {reserved !== null && reserved > 0 && ` + ${format(reserved)} reserved`}
        {resetsAt !== null && (
          <span className="muted small">, {toReset(Date.parse(resetsAt), timeZone)}</span>
        )}
      </span>
      <MeterBar share={share} reserved={limit === 0 ? 0 : (reserved ?? 0) / limit} />
    </div>
  )
}

const SCOPES: Readonly<Record<EffectiveLimit['scope'], string>> = {
  org: 'The organization',
  project: 'This project',
  environment: 'This environment',
  key: 'This key',
  end_user: 'This end user',
}

function toSentence({ kind, metric, limit, window, window_seconds: seconds }: EffectiveLimit): string {
  const amount =
    metric === 'usd'
      ? toMoney(limit)
      : `${toCount(limit)} ${metric === 'concurrency' ? 'requests at once' : metric}`
  const span =
    metric === 'concurrency'
      ? ''
      : window === 'total'
        ? ' in total'
        : window !== null
          ? ` a ${window}`
          : ` ${toSpan(seconds ?? 60)}`
  return `At most ${amount}${span}${kind === 'plan' ? ', set by the plan' : ''}`
}
