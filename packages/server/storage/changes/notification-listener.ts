import { Socket } from 'node:net'
import { Client } from 'pg'
import { type Connection, toClientConfig } from '../connection.ts'

/** A connection that has executed LISTEN. */
export interface NotificationListener {
  /**
   * Resolves after a query that begins after the call. Rejects, and closes the connection, if there is no result within
   * the timeout. Calls while a query runs share the next one.
   */
  ping(): Promise<void>
  /** Closes the connection. Later notifications are not delivered. */
  close(): void
}

export interface ListenerOptions {
  readonly connection: Connection
  readonly channel: string
  /** The timeout for connecting and for every query. */
  readonly timeoutMs: number
  readonly onNotification: (payload: string) => void
  /** Called once when an open connection is closed, for whatever reason. */
  readonly onClosed: (reason: string) => void
}

/** Connects and subscribes to the channel. Rejects if that fails; `onClosed` is not called then. */
export async function openNotificationListener(options: ListenerOptions): Promise<NotificationListener> {
  const { channel, timeoutMs } = options
  // The listener's own socket: destroying it is the only way to close a connection whose server does not respond.
  const socket = new Socket()
  const client = new Client({
    ...toClientConfig(options.connection),
    stream: () => socket,
    query_timeout: timeoutMs,
    connectionTimeoutMillis: timeoutMs,
  })
  let isOpen = false
  const close = (reason: string): void => {
    socket.destroy()
    if (!isOpen) return
    isOpen = false
    options.onClosed(reason)
  }
  client.on('notification', message => {
    if (!isOpen || message.channel !== channel || message.payload === undefined) return
    try {
      options.onNotification(message.payload)
    } catch (error) {
      // A notification that was not handled counts as a lost one.
      close(`a notification could not be handled: ${String(error)}`)
    }
  })
  client.on('error', error => close(error.message))
  client.on('end', () => close('the connection was closed'))
  try {
    await client.connect()
    await client.query(`listen ${channel}`)
  } catch (error) {
    socket.destroy()
    throw error
  }
  isOpen = true
  const ping = shareNextRun(async () => {
    try {
      await client.query('select 1')
    } catch (error) {
      close((error as Error).message)
      throw error
    }
  })
  return { ping, close: () => close('closed') }
}

/** Calls while `run` is running share the next run, which begins after all of them. Two runs never overlap. */
function shareNextRun(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined
  const start = (): Promise<void> => {
    const begun = run().finally(() => {
      running = undefined
    })
    running = begun
    return begun
  }
  return () => {
    if (running === undefined) return start()
    next ??= running
      .catch(() => {})
      .then(() => {
        next = undefined
        // A run that another caller has started in the meantime also began after the calls that wait here.
        return running ?? start()
      })
    return next
  }
}
