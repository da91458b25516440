import { useMutation, usePrefetchQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useParams, useSearch } from '@tanstack/react-router'
import { type ReactNode, useMemo, useState } from 'react'
import { toApiError } from '../../api/api-error.ts'
import { keyNamesQuery } from '../../api/key-calls.ts'
import { toParams } from '../../api/workspace.ts'
import { Chart } from '../../charts/chart.tsx'
import { Button } from '../../controls/button.tsx'
import { ErrorPanel, FormProblem } from '../../controls/error-panel.tsx'
import { PageHeader } from '../../controls/page-header.tsx'
import { RemoveDialog } from '../../controls/remove-dialog.tsx'
import { Skeleton } from '../../controls/skeleton.tsx'
import { TimeAgo } from '../../controls/time-ago.tsx'
import { toCount } from '../../format/amounts.ts'
import { toMoney } from '../../format/money.ts'
import { useDisabledReason, useEnvironment } from '../../session/environment-context.tsx'
import { EffectiveLimitsPanel } from '../limits/effective-limits.tsx'
import { LogTable } from '../logs/log-table.tsx'
import '../logs/logs.css'
import '../overview/overview.css'
import { toBuckets } from '../overview/usage-series.ts'
import {
  blockEndUser,
  type EndUser,
  endUsersKey,
  findDefaultPlan,
  getEndUser,
  getEndUserLimits,
  latestRequestsQuery,
  planChoicesQuery,
  unblockEndUser,
  usageOfQuery,
} from './end-user-calls.ts'
import { PlanChoiceDialog } from './plan-choice-dialog.tsx'

const ROUTE = '/signed-in/o/$org/$project/$environment/end-users/$endUserId'

export function EndUserPage() {
  const { endUserId } = useParams({ from: ROUTE })
  const { name } = useSearch({ from: ROUTE })
  const current = useEnvironment()
  const envId = current.environment.id
  const endUser = useQuery({
    queryKey: [...endUsersKey(envId), 'one', endUserId],
    queryFn: () => getEndUser(endUserId),
  })
  return (
    <>
      {endUser.isPending && <PrefetchEndUser endUserId={endUserId} name={name} />}
      <nav aria-label="Breadcrumb" className="small">
        <Link to="/o/$org/$project/$environment/end-users" params={toParams(current)}>
          ← End users
        </Link>
      </nav>
      {endUser.isSuccess ? (
        <EndUserView endUser={endUser.data} />
      ) : (
        <>
          <PageHeader title="End user" />
          {endUser.isPending && <Skeleton rows={6} />}
          {endUser.isError && (
            <ErrorPanel what="This end user" error={endUser.error} onRetry={() => void endUser.refetch()} />
          )}
        </>
      )}
    </>
  )
}

/** Starts the calls of the page's parts together with that of the end user. What is shown follows the loaded name, not the address's. */
function PrefetchEndUser({ endUserId, name }: { endUserId: string; name: string | undefined }) {
  const envId = useEnvironment().environment.id
  usePrefetchQuery({ queryKey: ['effective-limits', endUserId], queryFn: () => getEndUserLimits(endUserId) })
  usePrefetchQuery(keyNamesQuery(envId))
  usePrefetchQuery(planChoicesQuery(envId))
  return name === undefined ? null : <PrefetchUsage envId={envId} name={name} />
}

function PrefetchUsage({ envId, name }: { envId: string; name: string }) {
  usePrefetchQuery(usageOfQuery(envId, name))
  usePrefetchQuery(latestRequestsQuery(envId, name))
  return null
}

function EndUserView({ endUser }: { endUser: EndUser }) {
  const { environment } = useEnvironment()
  const disabledReason = useDisabledReason('developer')
  const client = useQueryClient()
  const [dialog, setDialog] = useState<'plan' | 'block'>()
  const plans = useQuery({ ...planChoicesQuery(environment.id), meta: { isQuiet: true } })
  const refresh = (): void => void client.invalidateQueries({ queryKey: endUsersKey(environment.id) })
  const unblock = useMutation({ mutationFn: unblockEndUser, onSettled: refresh })
  const { id, external_id: name, plan, blocked_at: blockedAt } = endUser
  return (
    <>
      <PageHeader
        title={name}
        description={
          <span className="row">
            {blockedAt !== null && <span className="chip bad">blocked</span>}
            <span>{toPlanText(plan, findDefaultPlan(plans.data?.data ?? [])?.name)}</span>
          </span>
        }
        actions={
          <>
            <Button disabledReason={disabledReason} onClick={() => setDialog('plan')}>
              Change plan
            </Button>
            {blockedAt === null ? (
              <Button disabledReason={disabledReason} onClick={() => setDialog('block')}>
                Block
              </Button>
            ) : (
              <Button disabledReason={disabledReason} onClick={() => unblock.mutate(id)}>
                Unblock
              </Button>
            )}
          </>
        }
      />
      <FormProblem error={unblock.error === null ? undefined : toApiError(unblock.error)} />
      <Figures endUser={endUser} />
      <EffectiveLimitsPanel name={id} load={() => getEndUserLimits(id)} />
      <UsageCharts name={name} />
      <LatestRequests name={name} />
      {dialog === 'plan' && <PlanChoiceDialog endUser={endUser} onClose={() => setDialog(undefined)} />}
      {dialog === 'block' && (
        <RemoveDialog
          title={`Block ${name}`}
          verb="Block"
          effect="Their requests are refused, and live tokens stop working within a second. You can unblock them at any time."
          remove={() => blockEndUser(id)}
          onDone={refresh}
          onClose={() => setDialog(undefined)}
        />
      )}
    </>
  )
}

function Figures({ endUser: { usage, last_seen_at, created_at } }: { endUser: EndUser }) {
  const { time_zone: timeZone } = useEnvironment().organization
  const figures: readonly (readonly [string, ReactNode])[] = [
    ['Requests to date', toCount(usage.requests)],
    ['Tokens to date', toCount(usage.input_tokens + usage.output_tokens)],
    ['Cost to date', toMoney(usage.cost_usd)],
    ['Last seen', <TimeAgo key="seen" at={last_seen_at} timeZone={timeZone} />],
    ['First seen', <TimeAgo key="made" at={created_at} timeZone={timeZone} />],
  ]
  return (
    <dl className="tiles five">
      {figures.map(([label, value]) => (
        <div key={label} className="panel tile">
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

function UsageCharts({ name }: { name: string }) {
  const { environment, organization } = useEnvironment()
  const timeZone = organization.time_zone
  const usage = useQuery(usageOfQuery(environment.id, name))
  const buckets = useMemo(
    () => (usage.data === undefined ? [] : toBuckets(usage.data.rows, '30d', usage.data.now, timeZone)),
    [usage.data, timeZone],
  )
  if (usage.isError) {
    return <ErrorPanel what="Usage" error={usage.error} onRetry={() => void usage.refetch()} />
  }
  if (usage.isPending) return <Skeleton rows={2} heightPx={96} />
  const labels = buckets.map(({ label }) => label)
  const costs = [{ name: 'Cost', color: '--series-1', values: buckets.map(({ costUsd }) => costUsd) }]
  const counts = [
    {
      name: 'Answered',
      color: '--status-2xx',
      values: buckets.map(bucket => bucket.requests - bucket.errors),
    },
    { name: 'Failed', color: '--status-5xx', values: buckets.map(bucket => bucket.errors) },
  ]
  const caption = `By day, ${timeZone}.`
  return (
    <div className="charts">
      <Chart
        title="Requests"
        caption={caption}
        labels={labels}
        series={counts}
        kind="bars"
        unit="count"
        isLastRunning
      />
      <Chart
        title="Cost in US dollars"
        caption={caption}
        labels={labels}
        series={costs}
        kind="bars"
        unit="usd"
        isLastRunning
      />
    </div>
  )
}

function LatestRequests({ name }: { name: string }) {
  const current = useEnvironment()
  const envId = current.environment.id
  const logs = useQuery(latestRequestsQuery(envId, name))
  const keys = useQuery(keyNamesQuery(envId))
  return (
    <section className="panel" aria-labelledby="latest">
      <header>
        <h2 id="latest">Latest requests</h2>
        <Link
          className="small"
          to="/o/$org/$project/$environment/logs"
          params={toParams(current)}
          search={{ end_user_id: name, range: '30d' }}
        >
          All of the last 30 days
        </Link>
      </header>
      {logs.isPending && (
        <div className="padded">
          <Skeleton rows={4} />
        </div>
      )}
      {logs.isError && <ErrorPanel what="Requests" error={logs.error} onRetry={() => void logs.refetch()} />}
      {logs.data?.data.length === 0 && <p className="padded muted">None within the retention of the log.</p>}
      {logs.data !== undefined && logs.data.data.length > 0 && (
        <LogTable rows={logs.data.data} keys={keys.data?.data ?? []} />
      )}
    </section>
  )
}

function toPlanText(plan: string | null, defaultPlan: string | undefined): string {
  if (plan !== null) return `On the plan ${plan}`
  return defaultPlan === undefined ? 'On no plan' : `On the plan ${defaultPlan}, the default`
}
