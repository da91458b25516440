import { type OnException, runGuarded, throwLater } from '../../core/on-exception.ts'
import type { SupervisorChannel } from '../../workers/channel/supervisor-channel.ts'
import { LEDGER_TOPIC } from '../../workers/channel/topic.ts'
import { LedgerSession, type ServedLedger } from './ledger-session.ts'
import { WaitingReservations } from './waiting-reservations.ts'

export interface ServeLedgerOptions {
  /** Unix milliseconds. */
  readonly now: () => number
  readonly onException?: OnException
}

/** How often workers learn of a change of the ledger's health. */
const HEALTH_EVERY_MS = 250
/** How often leases are expired, whatever the number of workers. */
const EXPIRE_EVERY_MS = 5_000

/**
 * Serves the ledger of the supervisor to its workers and expires their leases. Call it in the tick in which the channel was opened. The
 * ledger is a `ProcessLedger` with `hasWorkers` or, with Redis, what openLedger returns. Returns a function that ends the service.
 */
export function serveLedger(
  channel: SupervisorChannel,
  ledger: ServedLedger,
  { now, onException = throwLater }: ServeLedgerOptions,
): () => void {
  const sessions = new Set<LedgerSession>()
  const reservations = new WaitingReservations(onException)
  channel.setTopic(LEDGER_TOPIC, peer => {
    const session = new LedgerSession(peer, ledger, {
      reservations,
      onException,
      onClosed: () => sessions.delete(session),
    })
    sessions.add(session)
    return session
  })
  const healthTimer = setInterval(
    () =>
      runGuarded('the health of the ledger', onException, () => {
        for (const session of sessions) session.reportHealth()
      }),
    HEALTH_EVERY_MS,
  )
  const expiryTimer = setInterval(
    () => runGuarded('the expiry of leases', onException, () => ledger.expire(now())),
    EXPIRE_EVERY_MS,
  )
  healthTimer.unref()
  expiryTimer.unref()
  return () => {
    clearInterval(healthTimer)
    clearInterval(expiryTimer)
  }
}
