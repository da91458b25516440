import { queryOptions, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { toParams } from '../../api/workspace.ts'
import { ErrorPanel } from '../../controls/error-panel.tsx'
import { Skeleton } from '../../controls/skeleton.tsx'
import { toCount } from '../../format/amounts.ts'
import { toMoney } from '../../format/money.ts'
import { useEnvironment } from '../../session/environment-context.tsx'
import { groupRows, loadByModel, type TimeRange, toTotals } from './usage-series.ts'

const SHOWN = 6

export const modelUsageQuery = (envId: string, range: TimeRange) =>
  queryOptions({
    queryKey: ['usage-by-model', envId, range],
    queryFn: () => loadByModel(envId, range, Date.now()),
  })

/** Lists the models with the most requests. */
export function ModelPanel({ range }: { range: TimeRange }) {
  const current = useEnvironment()
  const usage = useQuery(modelUsageQuery(current.environment.id, range))
  const models = [...groupRows(usage.data ?? [], row => row.model ?? null)]
    .map(([model, rows]) => ({ model, ...toTotals(rows) }))
    .sort((a, b) => b.requests - a.requests)
  const max = models[0]?.requests ?? 1
  return (
    <section className="panel chart" aria-labelledby="top-models">
      <h2 id="top-models">Top models</h2>
      {usage.isPending && <Skeleton rows={SHOWN} heightPx={28} />}
      {usage.isError && <ErrorPanel what="Models" error={usage.error} onRetry={() => void usage.refetch()} />}
      <ol className="ranks">
        {models.slice(0, SHOWN).map(({ model, requests, costUsd, unpriced }) => (
          <li key={model}>
            {model === null ? (
              <span className="muted">no model reached</span>
            ) : (
              <Link
                className="truncate"
                to="/o/$org/$project/$environment/logs"
                params={toParams(current)}
                search={{ model, ...(range === '24h' ? {} : { range }) }}
              >
                {model}
              </Link>
            )}
            <span className="number">{toCount(requests)}</span>
            <span className="number muted">{toMoney(costUsd === 0 && unpriced > 0 ? null : costUsd)}</span>
            <span className="rank" style={{ width: `${(100 * requests) / max}%` }} aria-hidden="true" />
          </li>
        ))}
      </ol>
      {models.length > SHOWN && <p className="small muted">and {models.length - SHOWN} more</p>}
    </section>
  )
}
