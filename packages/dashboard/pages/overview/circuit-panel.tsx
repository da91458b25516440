import type { Resource } from '../../api/client.ts'
import { useNow } from '../../controls/use-now.ts'
import { toPercent } from '../../format/amounts.ts'
import { toRelativeTime } from '../../format/times.ts'

/** Lists the models that the gateway skips because their provider failed too often. */
export function CircuitPanel({ circuits }: { circuits: readonly Resource<'Circuit'>[] }) {
  const now = useNow()
  return (
    <section className="notice warn" aria-label="Open circuits">
      {circuits.map(({ id, model, failure_rate, opened_at, retry_at }) => (
        <span key={id}>
          <strong>{model}</strong> is skipped: {toPercent(failure_rate)} of its calls failed. Its circuit
          opened {toRelativeTime(Date.parse(opened_at), now)}
          {retry_at !== null && ` and tries again ${toRetry(Date.parse(retry_at), now)}`}.
        </span>
      ))}
    </section>
  )
}

function toRetry(at: number, now: number): string {
  return at <= now ? 'with the next request' : toRelativeTime(at, now)
}
