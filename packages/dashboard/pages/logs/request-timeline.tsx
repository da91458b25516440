import { toDuration } from '../../format/amounts.ts'
import { toMoney } from '../../format/money.ts'
import type { LogDetail } from './log-calls.ts'

/** From admission to settlement. Attempts follow each other, so each begins where the one before it ended. */
export function RequestTimeline({ log }: { log: LogDetail }) {
  const { queue_ms: queueMs, first_byte_ms: firstByteMs, attempts, hold, settlement } = log
  const totalMs = Math.max(
    log.total_ms,
    attempts.reduce((sum, { ms }) => sum + ms, queueMs),
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
          {hold !== null && `, reserved ${toMoney(hold.cost_usd)} and ${hold.tokens} tokens`}
        </span>
      </li>
      {attempts.map((attempt, index) => {
        const left = startMs
        startMs += attempt.ms
        const isLast = index === attempts.length - 1
        const isBad = attempt.error !== null
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: attempts are in the order in which they were made.
          <li key={index}>
            <span className="cut" title={attempt.target}>
              Attempt {index + 1}
            </span>
            <span className="track">
              <span
                className={`span${isBad ? ' bad' : ''}`}
                style={{ left: share(left), width: share(attempt.ms) }}
              />
              {isLast && firstByteMs !== null && (
                <span className="mark" style={{ left: share(firstByteMs) }} />
              )}
            </span>
            <span className="note">
              {attempt.target}: {attempt.status ?? 'no answer'}
              {isBad && ` ${attempt.error}`}, {toDuration(attempt.ms)}
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
            : `${toMoney(settlement.cost_usd)} and ${settlement.tokens} tokens${settlement.estimated ? ', estimated' : ''}`}
        </span>
      </li>
    </ol>
  )
}
