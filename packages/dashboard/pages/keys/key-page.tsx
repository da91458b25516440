import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { api, unwrap } from '../../api/client.ts'
import { describeRights, type Key, keysKey, stateOf } from '../../api/key-calls.ts'
import { toParams } from '../../api/workspace.ts'
import { DescriptionList } from '../../controls/description-list.tsx'
import { ErrorPanel } from '../../controls/error-panel.tsx'
import { PageHeader } from '../../controls/page-header.tsx'
import { Skeleton } from '../../controls/skeleton.tsx'
import { TimeAgo } from '../../controls/time-ago.tsx'
import { useNow } from '../../controls/use-now.ts'
import { useEnvironment } from '../../session/environment-context.tsx'
import { EffectiveLimitsPanel } from '../limits/effective-limits.tsx'
import { STATES } from './key-table.tsx'

/** Shows what a key may do, and everything that can refuse its next request. */
export function KeyPage() {
  const { keyId } = useParams({ from: '/signed-in/o/$org/$project/$environment/keys/$keyId' })
  const current = useEnvironment()
  const path = { keyId }
  const key = useQuery({
    queryKey: [...keysKey(current.environment.id), 'one', keyId],
    queryFn: () => unwrap(api.GET('/v1/keys/{keyId}', { params: { path } })),
  })
  return (
    <>
      <nav aria-label="Breadcrumb" className="small">
        <Link to="/o/$org/$project/$environment/keys" params={toParams(current)}>
          ← Keys
        </Link>
      </nav>
      {key.isSuccess ? <KeyHead shown={key.data} /> : <PageHeader title="Key" />}
      {key.isPending && <Skeleton rows={3} />}
      {key.isError && <ErrorPanel what="This key" error={key.error} onRetry={() => void key.refetch()} />}
      <EffectiveLimitsPanel
        name={keyId}
        load={() => unwrap(api.GET('/v1/keys/{keyId}/effective-limits', { params: { path } }))}
      />
    </>
  )
}

function KeyHead({ shown }: { shown: Key }) {
  const current = useEnvironment()
  const { time_zone: timeZone } = current.organization
  const { variant, text } = STATES[stateOf(shown, useNow())]
  return (
    <>
      <PageHeader
        title={shown.name}
        description={
          <span className="row">
            <span className={`chip ${variant}`}>{text}</span>
            <span>{describeRights(shown)}</span>
          </span>
        }
        actions={
          <Link
            className="button"
            to="/o/$org/$project/$environment/logs"
            params={toParams(current)}
            search={{ key_id: shown.id, range: '7d' }}
          >
            View requests
          </Link>
        }
      />
      <section className="panel padded" aria-label="Details">
        <DescriptionList
          items={[
            ['Key', <code key="key">{shown.prefix_display}</code>],
            ['Kind', shown.kind],
            ['Last used', <TimeAgo key="used" at={shown.last_used_at} timeZone={timeZone} />],
            ['Expires', <TimeAgo key="ends" at={shown.expires_at} timeZone={timeZone} />],
            ['Created', <TimeAgo key="made" at={shown.created_at} timeZone={timeZone} />],
          ]}
        />
      </section>
    </>
  )
}
