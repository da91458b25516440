import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { answerOf, api } from '../../api/client.ts'
import { describeRights, type Key, keysKey, stateOf } from '../../api/key-calls.ts'
import { toNames } from '../../api/workspace.ts'
import { ErrorPanel } from '../../controls/error-panel.tsx'
import { Facts } from '../../controls/facts.tsx'
import { PageHead } from '../../controls/page-head.tsx'
import { Skeleton } from '../../controls/skeleton.tsx'
import { TimeAgo } from '../../controls/time-ago.tsx'
import { useNow } from '../../controls/use-now.ts'
import { usePlace } from '../../session/place-context.tsx'
import { EffectiveLimitsPanel } from '../limits/effective-limits.tsx'
import { STATES } from './key-table.tsx'

/** What a key may do, and everything that can refuse its next request. */
export function KeyPage() {
  const { keyId } = useParams({ from: '/signed-in/o/$org/$project/$environment/keys/$keyId' })
  const place = usePlace()
  const path = { keyId }
  const key = useQuery({
    queryKey: [...keysKey(place.environment.id), 'one', keyId],
    queryFn: () => answerOf(api.GET('/v1/keys/{keyId}', { params: { path } })),
  })
  return (
    <>
      <nav aria-label="Breadcrumb" className="small">
        <Link to="/o/$org/$project/$environment/keys" params={toNames(place)}>
          ← Keys
        </Link>
      </nav>
      {key.isSuccess ? <KeyHead shown={key.data} /> : <PageHead title="Key" />}
      {key.isPending && <Skeleton rows={3} />}
      {key.isError && <ErrorPanel what="This key" error={key.error} onRetry={() => void key.refetch()} />}
      <EffectiveLimitsPanel
        name={keyId}
        load={() => answerOf(api.GET('/v1/keys/{keyId}/effective-limits', { params: { path } }))}
      />
    </>
  )
}

function KeyHead({ shown }: { shown: Key }) {
  const place = usePlace()
  const { time_zone: timeZone } = place.organization
  const { look, text } = STATES[stateOf(shown, useNow())]
  return (
    <>
      <PageHead
        title={shown.name}
        answer={
          <span className="row">
            <span className={`chip ${look}`}>{text}</span>
            <span>{describeRights(shown)}</span>
          </span>
        }
        actions={
          <Link
            to="/o/$org/$project/$environment/logs"
            params={toNames(place)}
            search={{ key_id: shown.id, range: '7d' }}
          >
            Its requests
          </Link>
        }
      />
      <section className="panel padded" aria-label="Facts">
        <Facts
          facts={[
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
