import type { Redis } from 'ioredis'
import { throwLater } from '../../core/on-exception.ts'
import { openRedis } from '../../redis/open-redis.ts'
import { defineCommands, type LedgerCommands } from './commands.ts'
import { createRun, endRun, findRun, isRunOpen, joinRun, readServerId } from './runs.ts'

export interface ConnectionOptions {
  readonly url: string
  readonly owner: string
  readonly log: (line: string) => void
  /** Returns how many gateway processes use this database. All of them join a new run before it is counted on. */
  readonly countProcesses: () => Promise<number>
  /** Writes what this process has settled to PostgreSQL, from which new counters are seeded. */
  readonly drain: () => Promise<void>
  /** Makes the reservations of this process known in a run, before anything is admitted there. */
  readonly restore: (run: string) => Promise<void>
  /** Called when counting begins, or continues after an outage. */
  readonly onOpen: (run: string) => void
  /** How long a new run waits for processes that do not join. */
  readonly joinTimeoutMs?: number
  readonly heartbeatMs?: number
  /** A command without an answer for this long has failed. */
  readonly commandTimeoutMs?: number
}

const JOIN_TIMEOUT_MS = 3000
const HEARTBEAT_MS = 1000
const RETRY_MS = 100
/** After this time without an answer the connection is replaced. */
const SILENT_MS = 2000

/**
 * The connection to Redis, and whether its counters can be trusted. A run is one life of the server's data. It is named by
 * the server's `run_id` and a random marker that is stored with the data, so a restart, a failover and a flush each begin
 * another run. All keys contain the run's name: data that an old snapshot restores is never read.
 */
export class Connection {
  readonly redis: Redis
  readonly commands: LedgerCommands
  readonly #options: ConnectionOptions
  #run: string | undefined
  #lastRun: string | undefined
  readonly #abandoned = new Set<string>()
  #reason = 'Redis, which counts the limits, was not reached yet'
  #isOpening = false
  #isClosed = false
  #answeredAt = performance.now()
  #retry: NodeJS.Timeout | undefined
  readonly #heartbeat: NodeJS.Timeout
  #waiting: (() => void)[] = []

  constructor(options: ConnectionOptions) {
    this.#options = options
    const { url, commandTimeoutMs, heartbeatMs = HEARTBEAT_MS } = options
    this.redis = openRedis({ url, name: 'rideau-ledger', commandTimeoutMs })
    this.commands = defineCommands(this.redis)
    this.redis.on('ready', () => {
      this.#answeredAt = performance.now()
      this.#open()
    })
    this.redis.on('close', () => this.#markLost('Redis, which counts the limits, is unreachable'))
    this.#heartbeat = setInterval(() => void this.#beat(), heartbeatMs)
    this.#heartbeat.unref()
    // The client goes on trying where the first attempt fails.
    this.redis.connect().catch(() => {})
  }

  /** The run whose counters can be trusted now; undefined: none. */
  get run(): string | undefined {
    return this.#run
  }

  /** The current run or, during an outage, the one before it. */
  get lastRun(): string | undefined {
    return this.#lastRun
  }

  /** Why there is no run. */
  get reason(): string {
    return this.#reason
  }

  /** A command has failed: no counter is trusted until the server has answered again. */
  reportFailure(error: unknown): void {
    this.#markLost(`Redis, which counts the limits, failed: ${(error as Error).message}`)
  }

  /** Resolves when counting has begun, at the latest after `timeoutMs`. */
  async whenOpen(timeoutMs: number): Promise<void> {
    if (this.#run !== undefined) return
    let timer: NodeJS.Timeout | undefined
    const timeout = new Promise<void>(resolve => {
      timer = setTimeout(resolve, timeoutMs)
    })
    await Promise.race([timeout, new Promise<void>(resolve => this.#waiting.push(resolve))])
    clearTimeout(timer)
  }

  /** Returns whether the server still has the data of this run. Asked before a missing counter is taken for a new one. */
  async hasData(run: string): Promise<boolean> {
    const isOpen = await isRunOpen(this.redis, run)
    if (!isOpen) this.#markLost('Redis, which counts the limits, has lost its data or counts anew')
    return isOpen
  }

  /**
   * Ends a run as soon as its server is reachable again, for all processes, because its counters lack requests of this process that
   * have ended. Those must be in the journal.
   */
  abandon(run: string): void {
    if (this.#abandoned.has(run)) return
    this.#abandoned.add(run)
    this.#options.log('the limits will be counted anew on Redis: too many requests ended without it')
  }

  isAbandoned(run: string): boolean {
    return this.#abandoned.has(run)
  }

  close(): void {
    this.#isClosed = true
    this.#run = undefined
    clearInterval(this.#heartbeat)
    clearTimeout(this.#retry)
    this.redis.disconnect()
  }

  #markLost(reason: string): void {
    if (this.#isClosed) return
    if (this.#run !== undefined) this.#options.log(`limits are not counted on Redis any more: ${reason}`)
    this.#run = undefined
    this.#reason = reason
    this.#open()
  }

  async #beat(): Promise<void> {
    const run = this.#run
    if (run === undefined) return
    try {
      await this.hasData(run)
    } catch (error) {
      if (this.#run === run) this.reportFailure(error)
    }
  }

  #open(): void {
    if (this.#isOpening || this.#isClosed || this.#run !== undefined || this.redis.status !== 'ready') return
    this.#isOpening = true
    this.#enterRun()
      .then(
        () => {
          this.#isOpening = false
          // It may have been lost again meanwhile.
          this.#open()
        },
        (error: Error) => {
          this.#isOpening = false
          this.#retryAfter(error)
        },
      )
      .catch(error => throwLater(error, 'the connection of the ledger'))
  }

  #retryAfter(error: Error): void {
    if (this.#isClosed) return
    this.#reason = `Redis, which counts the limits, cannot be used: ${error.message}`
    if (performance.now() - this.#answeredAt > SILENT_MS && this.redis.status === 'ready') {
      this.#answeredAt = performance.now()
      this.redis.disconnect(true)
    }
    this.#retry = setTimeout(() => this.#open(), RETRY_MS)
    this.#retry.unref()
  }

  async #enterRun(): Promise<void> {
    const {
      owner,
      countProcesses,
      joinTimeoutMs: timeoutMs = JOIN_TIMEOUT_MS,
      restore,
      drain,
    } = this.#options
    const { stream } = this.redis
    const serverId = await readServerId(this.redis)
    this.#answeredAt = performance.now()
    const found = await this.#findRun(serverId)
    const isOpen = found !== undefined && (await isRunOpen(this.redis, found))
    const isNew = found === undefined || found !== this.#lastRun
    const run = found ?? (await createRun(this.redis, serverId))
    if (isNew) this.#reason = 'the counters of the limits are being seeded'
    // Requests that end from now on are settled in this run. Those that ended before are in the journal, which is drained next.
    await restore(run)
    if (isNew) await drain()
    if (!isOpen) await joinRun(this.redis, run, { owner, countProcesses, timeoutMs })
    if (this.redis.stream !== stream || this.redis.status !== 'ready')
      throw new Error('the connection was lost while counting began')
    if (this.#isClosed) return
    if (this.#lastRun !== undefined || isNew) this.#options.log('limits are counted on Redis')
    this.#lastRun = run
    this.#run = run
    this.#options.onOpen(run)
    for (const resume of this.#waiting.splice(0)) resume()
  }

  /** Returns the run of the server that can be joined; undefined: a new one has to be created. */
  async #findRun(serverId: string): Promise<string | undefined> {
    const found = await findRun(this.redis, serverId)
    if (found === undefined || !this.#abandoned.has(found)) return found
    await endRun(this.redis, found)
    return undefined
  }
}
