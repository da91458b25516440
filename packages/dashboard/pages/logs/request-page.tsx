import { usePrefetchQuery, useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { keyNamesQuery } from '../../api/key-calls.ts'
import { toParams } from '../../api/workspace.ts'
import { Button } from '../../controls/button.tsx'
import { CopyButton } from '../../controls/copy-button.tsx'
import { ErrorPanel } from '../../controls/error-panel.tsx'
import { PageHeader } from '../../controls/page-header.tsx'
import { Skeleton } from '../../controls/skeleton.tsx'
import { toDuration } from '../../format/amounts.ts'
import { toMoney } from '../../format/money.ts'
import { toDateTime } from '../../format/times.ts'
import { useEnvironment, useWorkspace } from '../../session/environment-context.tsx'
import { readDraft, storeDraft } from '../playground/draft-storage.ts'
import { readConversation } from './conversation.ts'
import { describeModel, getLog, type LogDetail, statusVariant } from './log-calls.ts'
import { LogNeighbors } from './log-neighbors.tsx'
import './logs.css'
import { RequestBodies } from './request-bodies.tsx'
import { RequestDetails } from './request-details.tsx'
import { RequestTimeline } from './request-timeline.tsx'
import { toCurl } from './to-curl.ts'

/** A record reaches the database shortly after the answer, so a link from the playground may have to wait for it. */
const RECORD_TRIES = 8

export function RequestPage() {
  const { requestId } = useParams({ from: '/signed-in/o/$org/$project/$environment/logs/$requestId' })
  const current = useEnvironment()
  usePrefetchQuery(keyNamesQuery(current.environment.id))
  const log = useQuery({
    queryKey: ['log', requestId],
    queryFn: () => getLog(requestId),
    staleTime: 60_000,
    retry: (count, error) => count < RECORD_TRIES && (error as { status?: number }).status === 404,
    retryDelay: 500,
  })
  return (
    <>
      <LogNeighbors requestId={requestId} />
      {log.isPending && (
        <>
          <PageHeader title="Request" />
          <Skeleton rows={6} />
        </>
      )}
      {log.isError && (
        <>
          <PageHeader title="Request" />
          <ErrorPanel what="This request" error={log.error} onRetry={() => void log.refetch()} />
        </>
      )}
      {log.isSuccess && <RequestView log={log.data} />}
    </>
  )
}

function RequestView({ log }: { log: LogDetail }) {
  const { organization, environment } = useEnvironment()
  const { time_zone: timeZone } = organization
  const keys = useQuery(keyNamesQuery(environment.id))
  return (
    <>
      <PageHeader
        title={describeModel(log)}
        description={
          <span className="row">
            <span className={`chip ${statusVariant(log.status)}`}>{log.status}</span>
            <span>
              {toDuration(log.total_ms)},{' '}
              {log.cost_usd === null && log.status >= 400 ? 'no cost' : toMoney(log.cost_usd)},{' '}
              {toDateTime(Date.parse(log.created_at), timeZone)} {timeZone}
            </span>
          </span>
        }
        actions={<RequestActions log={log} />}
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
          <h2>Details</h2>
        </header>
        <RequestDetails log={log} keyName={keys.data?.data.find(({ id }) => id === log.key_id)?.name} />
      </section>
      <RequestBodies log={log} />
    </>
  )
}

function RequestActions({ log }: { log: LogDetail }) {
  const { gateway_url: gatewayUrl, prefixes } = useWorkspace()
  const current = useEnvironment()
  const navigate = useNavigate()
  const curl = toCurl(log, { gatewayUrl, prefixes })
  const messages = readConversation(log.request_body, null)
  const prompt = messages?.findLast(({ role, text }) => role === 'user' && text !== '')?.text
  const open = (): void => {
    const system = messages?.find(({ role }) => role === 'system' || role === 'developer')?.text ?? ''
    const model = log.model_requested ?? ''
    storeDraft(current.environment.id, {
      ...readDraft(current.environment.id),
      model,
      system,
      prompt: prompt ?? '',
    })
    void navigate({ to: '/o/$org/$project/$environment/playground', params: toParams(current) })
  }
  return (
    <>
      <CopyButton text={log.request_id} label="Copy request id" />
      {curl !== undefined && <CopyButton text={curl} label="Copy as curl" />}
      {log.endpoint === 'chat' && prompt !== undefined && (
        <Button small onClick={open} title="Its model, system prompt and last message">
          Open in playground
        </Button>
      )}
    </>
  )
}
