import type { Resource } from '../../api/client.ts'
import { useNow } from '../../controls/use-now.ts'
import { toPercent } from '../../format/amounts.ts'
import { toRelativeTime } from '../../format/times.ts'

/** Models that the gateway passes over now, because their provider failed too often. */
export function CircuitPanel({ circuits }: { circuits: readonly Resource<'Circuit'>[] }) {
  const now = useNow()
  return (
    <section className="notice warn" aria-label="Open circuits">
      {circuits.map(({ id, model, failure_rate, opened_at, retry_at }) => (
        <span key={id}>
          <strong>{model}</strong> is passed over: {toPercent(failure_rate)} of its calls failed. Since{' '}
          {toRelativeTime(Date.parse(opened_at), now)}
          {retry_at !== null && `, tried again ${toRelativeTime(Date.parse(retry_at), now)}`}.
        </span>
      ))}
    </section>
  )
}
