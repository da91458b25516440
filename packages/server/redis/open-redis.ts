import { type RedisOptions as ClientOptions, type Command, Redis } from 'ioredis'

/**
 * A command without a reply for this long has failed. The server may still execute it, so callers must tolerate that. It is
 * well above what a busy process or a server that saves a snapshot may stall.
 */
const COMMAND_TIMEOUT_MS = 500
const CONNECT_TIMEOUT_MS = 2000
/** The longest pause between attempts to connect: a server that is back is noticed within a second. */
const MAX_RETRY_DELAY_MS = 1000

export interface RedisOptions {
  readonly url: string
  /** Shown by `CLIENT LIST`. */
  readonly name: string
  readonly commandTimeoutMs?: number | undefined
}

/**
 * Returns a client that is not connected yet: call `connect()`. Its commands fail at once while the server is unreachable, and
 * it reconnects by itself, however long that takes. Automatic pipelining is off, because in this version of ioredis it costs
 * more CPU than it saves.
 */
export function openRedis({ url, name, commandTimeoutMs = COMMAND_TIMEOUT_MS }: RedisOptions): Redis {
  const redis = new TimedRedis(url, commandTimeoutMs, {
    lazyConnect: true,
    connectionName: name,
    enableOfflineQueue: false,
    enableAutoPipelining: false,
    // Subscribers subscribe again on each `ready`.
    autoResubscribe: false,
    maxRetriesPerRequest: 0,
    connectTimeout: CONNECT_TIMEOUT_MS,
    retryStrategy: attempt => Math.min(50 * attempt, MAX_RETRY_DELAY_MS),
  })
  // Each command reports its own failure. Without a listener, ioredis prints connection errors.
  redis.on('error', () => {})
  return redis
}

/** A command that was sent, in a list in order of sending. */
interface SentCommand {
  readonly command: Command
  /** By `performance.now()`. */
  readonly deadline: number
  next: SentCommand | undefined
}

/**
 * A client with a command timeout that is fair to a stalled process. ioredis's own `commandTimeout` fails every command under
 * way when the process was stopped or busy for longer than that, although the replies are in the socket's buffer: timers run
 * before sockets are read. Here a command fails only if there is still no reply once the sockets have been read. All commands
 * share one timer.
 */
class TimedRedis extends Redis {
  readonly #timeoutMs: number
  #oldest: SentCommand | undefined
  #newest: SentCommand | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(url: string, timeoutMs: number, options: Omit<ClientOptions, 'replyMapping'>) {
    super(url, options)
    this.#timeoutMs = timeoutMs
  }

  override sendCommand(command: Command, stream?: Parameters<Redis['sendCommand']>[1]): unknown {
    const result = super.sendCommand(command, stream)
    if (command.isSettled) return result
    this.#dropSettled()
    const sent = { command, deadline: performance.now() + this.#timeoutMs, next: undefined }
    if (this.#newest === undefined) this.#oldest = sent
    else this.#newest.next = sent
    this.#newest = sent
    if (this.#timer === undefined) this.#startTimer(this.#timeoutMs)
    return result
  }

  #startTimer(ms: number): void {
    this.#timer = setTimeout(() => {
      const now = performance.now()
      // Immediates run after the event loop has read its sockets.
      setImmediate(() => this.#failOverdue(now))
    }, ms)
    this.#timer.unref()
  }

  /** `now`: before the sockets were read. Commands sent since then are not overdue. */
  #failOverdue(now: number): void {
    for (let sent = this.#oldest; sent !== undefined && sent.deadline <= now; sent = sent.next) {
      if (!sent.command.isSettled) sent.command.reject(new Error(`no reply within ${this.#timeoutMs} ms`))
    }
    this.#dropSettled()
    this.#timer = undefined
    if (this.#oldest !== undefined) this.#startTimer(this.#oldest.deadline - performance.now())
  }

  /** Replies arrive in the order of the commands. */
  #dropSettled(): void {
    while (this.#oldest?.command.isSettled === true) this.#oldest = this.#oldest.next
    if (this.#oldest === undefined) this.#newest = undefined
  }
}
