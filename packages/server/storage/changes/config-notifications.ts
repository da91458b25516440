import type { Connection } from '../connection.ts'
import { type NotificationListener, openNotificationListener } from './notification-listener.ts'

/**
 * A subscription to configuration changes. Triggers notify it in the transaction of each change
 * (migrations/0001-initial/change-notifications.ts). Notifications between onLost and onRestored are lost, so a cache
 * must be emptied on onRestored.
 */
export interface ConfigNotifications {
  /**
   * Resolves when onChange was called for every change that was committed before the call. Rejects, within timeoutMs, if
   * the connection is lost.
   *
   * A query is the barrier: PostgreSQL signals listeners before it confirms a commit, and a session delivers the
   * notifications that it was signalled for before it ends a query.
   */
  barrier(): Promise<void>
  /** Ends the subscription. No callback is called afterwards. */
  close(): Promise<void>
}

export interface ConfigNotificationsOptions {
  readonly connection: Connection
  readonly log: (line: string) => void
  /** The snapshot of this environment changed; SIGNING_KEYS: keys of client tokens were removed whose tokens had not all expired. */
  readonly onChange: (changed: string) => void
  /** The connection is closed, or did not respond in time. */
  readonly onLost: () => void
  /** Connected and subscribed again. */
  readonly onRestored: () => void
  /** How often the connection is tested; 5 seconds by default. */
  readonly heartbeatMs?: number
  /** How long the server may take to respond; 5 seconds by default. */
  readonly timeoutMs?: number
}

const CHANNEL = 'rideau_config'
/** As migrations/0022-replaced-signing-keys.ts notifies it. */
export const SIGNING_KEYS = 'signing_keys'
const BACKOFF_MS = { first: 50, max: 2000 }

/**
 * Subscribes on a connection of its own. A lost connection is opened again, with exponential backoff, until close().
 * Rejects if the first connection fails.
 */
export async function openConfigNotifications(
  options: ConfigNotificationsOptions,
): Promise<ConfigNotifications> {
  const { connection, log, heartbeatMs = 5000, timeoutMs = 5000 } = options
  let closed = false
  let listener: NotificationListener | undefined = await subscribe()
  let retry: NodeJS.Timeout | undefined

  function subscribe(): Promise<NotificationListener> {
    return openNotificationListener({
      connection,
      channel: CHANNEL,
      timeoutMs,
      onNotification: options.onChange,
      onClosed: handleLoss,
    })
  }

  function handleLoss(reason: string): void {
    if (closed || listener === undefined) return
    listener = undefined
    log(`configuration notifications lost: ${reason}`)
    options.onLost()
    scheduleRestore(BACKOFF_MS.first)
  }

  function scheduleRestore(delayMs: number): void {
    retry = setTimeout(() => {
      restore().catch(() => {
        if (!closed) scheduleRestore(Math.min(delayMs * 2, BACKOFF_MS.max))
      })
    }, delayMs)
    retry.unref()
  }

  async function restore(): Promise<void> {
    const restored = await subscribe()
    if (closed) {
      restored.close()
      return
    }
    listener = restored
    log('configuration notifications restored')
    options.onRestored()
  }

  const heartbeat = setInterval(() => listener?.ping().catch(() => {}), heartbeatMs)
  heartbeat.unref()

  return {
    async barrier() {
      if (listener === undefined) throw new Error('the connection for configuration notifications is lost')
      await listener.ping()
    },
    async close() {
      if (closed) return
      closed = true
      clearInterval(heartbeat)
      clearTimeout(retry)
      listener?.close()
    },
  }
}
