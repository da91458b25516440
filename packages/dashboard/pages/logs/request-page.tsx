import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { toNames } from '../../api/workspace.ts'
import { CopyButton } from '../../controls/copy-button.tsx'
import { ErrorPanel } from '../../controls/error-panel.tsx'
import { PageHead } from '../../controls/page-head.tsx'
import { Skeleton } from '../../controls/skeleton.tsx'
import { toDuration } from '../../format/amounts.ts'
import { toMoney } from '../../format/money.ts'
import { toDateTime } from '../../format/times.ts'
import { usePlace } from '../../session/place-context.tsx'
import { describeModel, getLog, type LogDetail, lookOf } from './log-calls.ts'
import './logs.css'
import { RequestBodies } from './request-bodies.tsx'
import { RequestFacts } from './request-facts.tsx'
import { RequestTimeline } from './request-timeline.tsx'

/** A record reaches the database a moment after its answer: somebody who comes from the playground waits for it. */
const RECORD_TRIES = 8

export function RequestPage() {
  const { requestId } = useParams({ from: '/signed-in/o/$org/$project/$environment/logs/$requestId' })
  const place = usePlace()
  const log = useQuery({
    queryKey: ['log', requestId],
    queryFn: () => getLog(requestId),
    staleTime: 60_000,
    retry: (count, error) => count < RECORD_TRIES && (error as { status?: number }).status === 404,
    retryDelay: 500,
  })
  return (
    <>
      <nav aria-label="Breadcrumb" className="small">
        <Link to="/o/$org/$project/$environment/logs" params={toNames(place)}>
          ← Logs
        </Link>
      </nav>
      {log.isPending && (
        <>
          <PageHead title="Request" />
          <Skeleton rows={6} />
        </>
      )}
      {log.isError && (
        <>
          <PageHead title="Request" />
          <ErrorPanel what="This request" error={log.error} onRetry={() => void log.refetch()} />
        </>
      )}
      {log.isSuccess && <RequestView log={log.data} />}
    </>
  )
}

function RequestView({ log }: { log: LogDetail }) {
  const { time_zone: timeZone } = usePlace().organization
  return (
    <>
      <PageHead
        title={describeModel(log)}
        answer={
          <span className="row">
            <span className={`chip ${lookOf(log.status)}`}>{log.status}</span>
            <span>
              {toDuration(log.total_ms)},{' '}
              {log.cost_usd === null && log.status >= 400 ? 'no cost' : toMoney(log.cost_usd)},{' '}
              {toDateTime(Date.parse(log.created_at), timeZone)} {timeZone}
            </span>
          </span>
        }
        actions={<CopyButton text={log.request_id} label="Copy request id" />}
      />
      {log.error_code !== null && (
        <div className="notice bad">
          <span>
            It failed with <code>{log.error_code}</code>.{' '}
            <a href={`/docs/errors#${log.error_code}`} target="_blank" rel="noreferrer">
              What this means and what to do
            </a>
          </span>
        </div>
      )}
      <section className="panel">
        <header>
          <h2>Timeline</h2>
        </header>
        <RequestTimeline log={log} />
      </section>
      <section className="panel">
        <header>
          <h2>Facts</h2>
        </header>
        <RequestFacts log={log} />
      </section>
      <RequestBodies log={log} />
    </>
  )
}
