import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import { throwLater } from '../../core/on-exception.ts'
import { openRedis } from '../../redis/open-redis.ts'
import { defineCommands, type LedgerCommands } from './commands.ts'

export interface LinkOptions {
  readonly url: string
  readonly owner: string
  readonly log: (line: string) => void
  /** Gateway processes that run on this database: so many must have told what they hold before counting begins anew. */
  readonly countProcesses: () => Promise<number>
  /** Carries what this process has settled to PostgreSQL, from which new counters are seeded. */
  readonly drain: () => Promise<void>
  /** Makes the holds of this process known under `run`, before anything is admitted there. */
  readonly restore: (run: string) => Promise<void>
  /** Counting begins, or goes on. */
  readonly onOpen: () => void
  /** A server that has lost everything is not counted on before all processes have told it, or so long. */
  readonly graceMs?: number
  readonly heartbeatMs?: number
  /** How long one command may keep a request waiting. */
  readonly commandTimeoutMs?: number
}

const GRACE_MS = 3000
const HEARTBEAT_MS = 1000
const RETRY_MS = 100
/** A connection that does not answer for so long is made anew. */
const SILENT_MS = 2000
const WEEK_MS = 604_800_000

/**
 * The connection to the server that counts, and whether it can be believed. A run is one life of the server's data, told
 * by the server's `run_id` and by a marker in it: a restart, a failover and an emptied server all begin another, under
 * whose name every key stands, so that what an older snapshot brings back is never read.
 */
export class Link {
  readonly redis: Redis
  readonly commands: LedgerCommands
  readonly #options: LinkOptions
  #run: string | undefined
  #former: string | undefined
  #reason = 'the limits’ counters have not been reached yet'
  #isOpening = false
  #isClosed = false
  #answeredAt = performance.now()
  #retry: NodeJS.Timeout | undefined
  readonly #heartbeat: NodeJS.Timeout
  #waiting: (() => void)[] = []

  constructor(options: LinkOptions) {
    this.#options = options
    this.redis = openRedis({
      url: options.url,
      name: 'rideau-ledger',
      commandTimeoutMs: options.commandTimeoutMs,
    })
    this.commands = defineCommands(this.redis)
    this.redis.on('ready', () => {
      this.#answeredAt = performance.now()
      this.#begin()
    })
    this.redis.on('close', () => this.lose('the server that counts the limits is out of reach'))
    this.#heartbeat = setInterval(() => void this.#beat(), options.heartbeatMs ?? HEARTBEAT_MS)
    this.#heartbeat.unref()
    // What is out of reach now is tried again in the background.
    this.redis.connect().catch(() => {})
  }

  /** The run that can be counted on; undefined: none now. */
  get run(): string | undefined {
    return this.#run
  }

  /** The last run that was counted on, also while there is none. */
  get former(): string | undefined {
    return this.#former
  }

  /** Why there is no run. */
  get reason(): string {
    return this.#reason
  }

  /** A command failed or was not answered in time: nothing is believed until the server answers again. */
  lose(reason: string): void {
    if (this.#isClosed) return
    if (this.#run !== undefined) this.#options.log(`shared limits lost: ${reason}`)
    this.#run = undefined
    this.#reason = reason
    this.#begin()
  }

  /** Resolves when counting has begun, at the latest after `patienceMs`. */
  async whenOpen(patienceMs: number): Promise<void> {
    if (this.#run !== undefined) return
    let timer: NodeJS.Timeout | undefined
    const timeout = new Promise<void>(resolve => {
      timer = setTimeout(resolve, patienceMs)
    })
    await Promise.race([timeout, new Promise<void>(resolve => this.#waiting.push(resolve))])
    clearTimeout(timer)
  }

  /** Does the server still have the counters of this run? Asked before a counter that is missing is taken for new. */
  async isWhole(run: string): Promise<boolean> {
    // A write, so that a server which became read-only is noticed too.
    const marker = await this.redis.getex(`rideau:${run}:open`, 'PX', WEEK_MS)
    if (marker === null) this.lose('the server that counts the limits was emptied')
    return marker !== null
  }

  close(): void {
    this.#isClosed = true
    this.#run = undefined
    clearInterval(this.#heartbeat)
    clearTimeout(this.#retry)
    this.redis.disconnect()
  }

  async #beat(): Promise<void> {
    const run = this.#run
    if (run === undefined) return
    try {
      await this.isWhole(run)
    } catch (error) {
      if (this.#run === run) this.lose((error as Error).message)
    }
  }

  #begin(): void {
    if (this.#isOpening || this.#isClosed || this.#run !== undefined || this.redis.status !== 'ready') return
    this.#isOpening = true
    this.#open()
      .then(
        () => {
          this.#isOpening = false
          this.#begin()
        },
        error => {
          this.#isOpening = false
          this.#retryAfter(error as Error)
        },
      )
      .catch(error => throwLater(error, 'the connection of the ledger'))
  }

  #retryAfter(error: Error): void {
    if (this.#isClosed) return
    this.#reason = `the server that counts the limits does not serve: ${error.message}`
    if (performance.now() - this.#answeredAt > SILENT_MS && this.redis.status === 'ready') {
      this.#answeredAt = performance.now()
      this.redis.disconnect(true)
    }
    this.#retry = setTimeout(() => this.#begin(), RETRY_MS)
    this.#retry.unref()
  }

  async #open(): Promise<void> {
    const connection = this.redis.stream
    const info = await this.redis.info('server')
    this.#answeredAt = performance.now()
    const runId = /^run_id:(\w+)/m.exec(info)?.[1]
    if (runId === undefined) throw new Error('it does not tell its run_id')
    const base = `rideau:${runId}`
    // Which emptying of this server it is: the marker goes with the data.
    const life = await this.redis.get(`${base}:life`)
    const known = life === null ? undefined : `${runId}.${life}`
    const isOpen = known !== undefined && (await this.#isMarked(known))
    const isNew = known === undefined || known !== this.#former
    const run = known ?? (await this.#createLife(base, runId))
    if (isNew) this.#reason = 'the limits’ counters are seeded anew'
    // What ends from now on is told to the server; what ended before is in the journal.
    await this.#options.restore(run)
    if (isNew) await this.#options.drain()
    if (!isOpen) await this.#waitForOthers(run)
    if (this.redis.stream !== connection || this.redis.status !== 'ready')
      throw new Error('it went away again')
    if (this.#isClosed) return
    if (this.#former !== undefined || isNew) this.#options.log('limits are counted together')
    this.#former = run
    this.#run = run
    this.#options.onOpen()
    for (const resume of this.#waiting.splice(0)) resume()
  }

  async #isMarked(run: string): Promise<boolean> {
    return (await this.redis.getex(`rideau:${run}:open`, 'PX', WEEK_MS)) !== null
  }

  async #createLife(base: string, runId: string): Promise<string> {
    const mine = randomUUID().slice(0, 8)
    await this.redis.set(`${base}:life`, mine, 'NX')
    const life = await this.redis.get(`${base}:life`)
    if (life === null) throw new Error('it keeps nothing')
    return `${runId}.${life}`
  }

  /** Until every process has restored what it holds: else what they have admitted would be admitted again. */
  async #waitForOthers(run: string): Promise<void> {
    const { owner, countProcesses, graceMs = GRACE_MS } = this.#options
    const members = `rideau:${run}:members`
    await this.redis.sadd(members, owner)
    await this.redis.pexpire(members, WEEK_MS)
    const end = performance.now() + graceMs
    while (!(await this.#isMarked(run))) {
      const processes = await countProcesses().catch(() => Number.POSITIVE_INFINITY)
      const isLate = performance.now() >= end
      if (isLate || (await this.redis.scard(members)) >= processes) {
        await this.redis.set(`rideau:${run}:open`, '1', 'PX', WEEK_MS)
        return
      }
      await new Promise(resolve => setTimeout(resolve, RETRY_MS / 2))
    }
  }
}
