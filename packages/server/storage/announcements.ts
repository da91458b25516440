import { Socket } from 'node:net'
import { Client } from 'pg'
import { type Connection, toClientConfig } from './connection.ts'

/**
 * Changes that the database announces on the channel `rideau_config` (migration 0001). Between onLost and onRestored
 * announcements may be missed: whoever caches by them empties the cache on onRestored.
 */
export interface Announcements {
  /**
   * Resolves when every change committed before the call has been handed to onChange; rejects, within timeoutMs,
   * where the connection is lost. PostgreSQL signals a listener before it confirms the commit, and a session sends
   * what it was signalled before it ends a query: so a query's answer is the barrier.
   */
  barrier(): Promise<void>
  close(): Promise<void>
}

export interface AnnouncementsOptions {
  readonly connection: Connection
  readonly log: (line: string) => void
  /** The environment whose snapshot changed. */
  readonly onChange: (environmentId: string) => void
  /** At once when the connection is gone or silent. */
  readonly onLost: () => void
  /** Listening again. */
  readonly onRestored: () => void
  /** A connection is asked so often whether it still answers. */
  readonly heartbeatMs?: number
  /** After so long without an answer it counts as lost. */
  readonly timeoutMs?: number
}

const CHANNEL = 'rideau_config'
const BACKOFF_MS = { first: 50, most: 2000 }

/** Listens on a connection of its own, which it restores for as long as it takes. Rejects where the first fails. */
export async function openAnnouncements(options: AnnouncementsOptions): Promise<Announcements> {
  const { log, heartbeatMs = 5000 } = options
  let closed = false
  let listener: Listener | undefined = await listen(options, lose)
  let retry: NodeJS.Timeout | undefined

  function lose(reason: string): void {
    if (closed || listener === undefined) return
    listener = undefined
    log(`configuration announcements lost: ${reason}`)
    options.onLost()
    restoreAfter(BACKOFF_MS.first)
  }

  function restoreAfter(delayMs: number): void {
    retry = setTimeout(() => {
      restore().catch(() => {
        if (!closed) restoreAfter(Math.min(delayMs * 2, BACKOFF_MS.most))
      })
    }, delayMs)
    retry.unref()
  }

  async function restore(): Promise<void> {
    const restored = await listen(options, lose)
    if (closed) {
      restored.destroy()
      return
    }
    listener = restored
    log('configuration announcements restored')
    options.onRestored()
  }

  const heartbeat = setInterval(() => listener?.ask().catch(() => {}), heartbeatMs)
  heartbeat.unref()

  return {
    async barrier() {
      if (listener === undefined) throw new Error('the connection for configuration announcements is lost')
      await listener.ask()
    },
    async close() {
      if (closed) return
      closed = true
      clearInterval(heartbeat)
      clearTimeout(retry)
      listener?.destroy()
    },
  }
}

interface Listener {
  /** A round trip that begins after the call. */
  ask(): Promise<void>
  destroy(): void
}

async function listen(options: AnnouncementsOptions, onEnd: (reason: string) => void): Promise<Listener> {
  const timeoutMs = options.timeoutMs ?? 5000
  // Our own socket: a connection that is silent can only be cut from below.
  const socket = new Socket()
  const client = new Client({
    ...toClientConfig(options.connection),
    stream: () => socket,
    query_timeout: timeoutMs,
    connectionTimeoutMillis: timeoutMs,
  })
  let listening = false
  const end = (reason: string): void => {
    socket.destroy()
    if (!listening) return
    listening = false
    onEnd(reason)
  }
  client.on('notification', ({ channel, payload }) => {
    if (!listening || channel !== CHANNEL || payload === undefined) return
    try {
      options.onChange(payload)
    } catch (error) {
      // A change that was not taken in is as one that was missed.
      end(`a change could not be taken in: ${String(error)}`)
    }
  })
  client.on('error', error => end(error.message))
  client.on('end', () => end('the connection was closed'))
  try {
    await client.connect()
    await client.query(`listen ${CHANNEL}`)
  } catch (error) {
    socket.destroy()
    throw error
  }
  listening = true
  const ask = oneAtATime(async () => {
    try {
      await client.query('select 1')
    } catch (error) {
      end((error as Error).message)
      throw error
    }
  })
  return { ask, destroy: () => end('closed') }
}

/** Calls that come while one runs share the next, which begins after all of them. */
function oneAtATime(run: () => Promise<void>): () => Promise<void> {
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
        // One that was begun in between was also begun after the calls that wait here.
        return running ?? start()
      })
    return next
  }
}
