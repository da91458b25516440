import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, type Resource, unwrap } from '../../api/client.ts'
import { toParams } from '../../api/workspace.ts'
import { ErrorPanel } from '../../controls/error-panel.tsx'
import { Skeleton } from '../../controls/skeleton.tsx'
import { toMoney } from '../../format/money.ts'
import { useEnvironment } from '../../session/environment-context.tsx'
import { type Forecast, toForecast } from './forecast.ts'
import { loadRecent } from './usage-calls.ts'

/** Compares the project's likely spend of the month with its monthly budgets. */
export function ForecastPanel() {
  const current = useEnvironment()
  const { project, organization } = current
  const recent = useQuery({
    queryKey: ['recent-usage', project.id],
    queryFn: async () => {
      const now = Date.now()
      return toForecast(await loadRecent(current, now), now, organization.time_zone)
    },
  })
  const budgets = useQuery({
    queryKey: ['budgets', project.id],
    queryFn: () =>
      unwrap(
        api.GET('/v1/projects/{projectId}/budgets', {
          params: { path: { projectId: project.id }, query: { limit: 20 } },
        }),
      ),
  })
  const ofMonth = budgets.data?.data.filter(({ window }) => window === 'month') ?? []
  // The forecast is the whole project's, so it is compared with budgets of the whole project only.
  const monthly = ofMonth.filter(({ scope }) => scope === null)
  return (
    <section className="panel" aria-labelledby="forecast">
      <header>
        <h2 id="forecast">This month in {project.name}</h2>
        <span className="muted small">An estimate from the mean of the last 7 whole days</span>
      </header>
      <div className="stack padded">
        {recent.isPending && <Skeleton rows={2} />}
        {recent.isError && (
          <ErrorPanel what="The forecast" error={recent.error} onRetry={() => void recent.refetch()} />
        )}
        {recent.data !== undefined && (
          <>
            <p>{toSentence(recent.data)}</p>
            {monthly.map(budget => (
              <BudgetForecast key={budget.id} budget={budget} forecast={recent.data} />
            ))}
            {budgets.isSuccess && monthly.length === 0 && (
              <p className="muted">
                {toNoBudget(ofMonth.length)}{' '}
                <Link
                  className="text-link"
                  to="/o/$org/$project/$environment/limits"
                  params={toParams(current)}
                >
                  Set a monthly budget
                </Link>
              </p>
            )}
          </>
        )}
      </div>
    </section>
  )
}

function toSentence({ spentUsd, lowUsd, highUsd, daysLeft }: Forecast): string {
  if (highUsd === 0) return 'Nothing spent yet, and nothing in the last 7 days to base a forecast on.'
  const remaining = daysLeft === 0 ? 'today is the last day' : `${daysLeft} days left after today`
  return `${toMoney(spentUsd)} so far, likely ${toRange(lowUsd, highUsd)} by the end of the month; ${remaining}.`
}

function toNoBudget(narrower: number): string {
  if (narrower === 0) return 'This project has no monthly budget.'
  const what = narrower === 1 ? 'One monthly budget covers' : `${narrower} monthly budgets cover`
  return `No monthly budget covers the whole project. ${what} an environment or a key of it.`
}

function toRange(low: number, high: number): string {
  const [from, to] = [toMoney(low), toMoney(high)]
  return from === to ? from : `${from} to ${to}`
}

function BudgetForecast({ budget, forecast }: { budget: Resource<'Budget'>; forecast: Forecast }) {
  const { limit_usd: limit } = budget
  const { lowUsd, highUsd } = forecast
  // The budget's counters know running requests before the usage does, but start only with the first request after the budget was set.
  const spent = Math.max(budget.spent_usd, forecast.spentUsd)
  const widthOf = (usd: number): string =>
    `${(100 * usd) / Math.max(limit, highUsd, spent, Number.MIN_VALUE)}%`
  const [variant, words] =
    spent >= limit
      ? ['bad', 'used up']
      : lowUsd > limit
        ? ['bad', 'likely to be exceeded']
        : highUsd > limit
          ? ['warn', 'may be exceeded']
          : ['good', 'likely sufficient']
  return (
    <div className="budget-forecast">
      <p className="row">
        <span>Budget of {toMoney(limit)} a month</span>
        <span className={`chip ${variant}`}>{words}</span>
      </p>
      <div className="forecast-bar" aria-hidden="true">
        <span className="spent" style={{ width: widthOf(Math.min(spent, Math.max(limit, highUsd))) }} />
        <span
          className="likely"
          style={{
            left: widthOf(Math.max(spent, lowUsd)),
            width: widthOf(Math.max(0, highUsd - Math.max(spent, lowUsd))),
          }}
        />
        <span className="mark" style={{ left: widthOf(limit) }} />
      </div>
    </div>
  )
}
