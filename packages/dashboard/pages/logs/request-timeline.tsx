import { toCount, toDuration } from '../../format/amounts.ts'
import { toMoney } from '../../format/money.ts'
import { describeCheckedLimits } from './checked-limits.ts'
import type { LogDetail } from './log-calls.ts'

/** A shorter time between two attempts is not shown as a backoff. */
const MIN_SHOWN_WAIT_MS = 10

/** Shows a request from admission to settlement. Records of earlier versions lack start times, so their attempts are drawn back to back. */
export function RequestTimeline({ log }: { log: LogDetail }) {
  const { queue_ms: queueMs, first_byte_ms: firstByteMs, attempts, hold, settlement } = log
  const totalMs = Math.max(
    log.total_ms,
    attempts.reduce((end, { start_ms: start, ms }) => Math.max(end, start ?? end) + ms, queueMs),
    1,
  )
  const share = (ms: number): string => `${(100 * Math.min(ms, totalMs)) / totalMs}%`
  let startMs = queueMs
  return (
    <ol className="timeline stack padded">
      <li>
        <span>Admission</span>
        <span className="track">
          <span className="span plain" style={{ left: 0, width: share(queueMs) }} />
        </span>
        <span className="note">
          {toDuration(queueMs)} in the gateway
          {describeCheckedLimits(log.checked_limits)}
          {hold !== null && `, reserved ${toMoney(hold.cost_usd)} and ${toCount(hold.tokens)} tokens`}
        </span>
      </li>
      {log.dropped_params !== null && (
        <li>
          <span>Dropped</span>
          <span className="track" />
          <span className="note">
            {log.dropped_params.join(', ')}: the target does not support{' '}
            {log.dropped_params.length === 1 ? 'it' : 'them'}
          </span>
        </li>
      )}
      {attempts.map((attempt, index) => {
        const attemptStartMs = attempt.start_ms ?? startMs
        const waitedMs = index === 0 ? 0 : attemptStartMs - startMs
        const isLast = index === attempts.length - 1
        const isBad = attempt.error !== null
        // The attempt that answers with a stream lasts as long as the stream, but its record says how long that took to begin.
        const ms =
          isLast && !isBad && log.stream ? Math.max(attempt.ms, log.total_ms - attemptStartMs) : attempt.ms
        startMs = attemptStartMs + ms
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: attempts are in the order in which they were made.
          <li key={index}>
            <span className="truncate" title={attempt.target}>
              Attempt {index + 1}
            </span>
            <span className="track">
              <span
                className={`span${isBad ? ' bad' : ''}`}
                style={{ left: share(attemptStartMs), width: share(ms) }}
              />
              {isLast && firstByteMs !== null && (
                <span className="mark" style={{ left: share(firstByteMs) }} />
              )}
            </span>
            <span className="note">
              {waitedMs >= MIN_SHOWN_WAIT_MS && `after a pause of ${toDuration(waitedMs)}, `}
              {attempt.target}: {attempt.status ?? 'no answer'}
              {isBad && ` ${attempt.error}`}, {toDuration(ms)}
              {isLast && firstByteMs !== null && `, first byte after ${toDuration(firstByteMs)}`}
              {attempt.lost_cost_usd != null && `, ${toMoney(attempt.lost_cost_usd)} lost`}
            </span>
          </li>
        )
      })}
      <li>
        <span>Settled</span>
        <span className="track">
          <span className="mark" style={{ left: 'calc(100% - 2px)' }} />
        </span>
        <span className="note">
          {settlement === null
            ? `${toMoney(log.cost_usd)} after ${toDuration(log.total_ms)}; no limit on tokens or money applied`
            : `${toMoney(settlement.cost_usd)} and ${toCount(settlement.tokens)} tokens${settlement.estimated ? ', estimated' : ''}`}
        </span>
      </li>
    </ol>
  )
}
