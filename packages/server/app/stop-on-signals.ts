import type { Clock } from '../core/clock.ts'
import type { App } from './app.ts'
import type { StopCounts } from './process/close-server.ts'
import { StopSignals } from './process/stop-signals.ts'

export const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** How long a forced end waits for the app to close in order, once its requests are cut. */
const FORCED_CLOSE_MS = 5_000

export interface StopOptions {
  /** The process, of which only its signals are used. */
  readonly signals: { on(name: NodeJS.Signals, listener: (name: NodeJS.Signals) => void): unknown }
  readonly clock: Clock
  readonly log: {
    info(details: object, message: string): void
    warn(details: object, message: string): void
    fatal(details: object, message: string): void
  }
  /** Whether a SIGHUP asks for other gateway workers and not for the end; absent: it does not. */
  readonly isReplacement?: () => boolean
  /** Ends the embedded database at once; does nothing with a database of the operator's. Never rejects. */
  readonly endDatabase: () => Promise<void>
  readonly exit: (code: number) => void
  /** 5 seconds by default. */
  readonly forcedCloseMs?: number
}

/**
 * Stops the program on SIGINT, SIGTERM and SIGHUP, also while it starts: then as soon as it has started. A second signal
 * ends it by force: running requests are cut, and what does not close in order within five seconds is left open, except the
 * embedded database, which is ended too. With gateway workers SIGHUP replaces these.
 */
export class StopOnSignals {
  readonly #options: StopOptions
  readonly #signals = new StopSignals()
  #app: App | undefined
  #isStopping = false
  #isForced = false
  #closing: Promise<void> | undefined

  constructor(options: StopOptions) {
    const { log } = options
    // A log that fails, as that of a closed terminal may, must not keep the program from ending.
    this.#options = {
      ...options,
      log: { info: guarded(log, 'info'), warn: guarded(log, 'warn'), fatal: guarded(log, 'fatal') },
    }
    for (const name of STOP_SIGNALS) options.signals.on(name, () => this.#note(name))
  }

  /** Called once the app has started. */
  started(app: App): void {
    this.#app = app
    if (this.#isStopping) this.#close(app)
  }

  #note(name: NodeJS.Signals): void {
    const { clock, log, isReplacement } = this.#options
    if (name === 'SIGHUP' && isReplacement?.() === true) return this.#replaceWorkers()
    const meaning = this.#signals.note(clock.now())
    if (meaning === 'force') void this.#force(name)
    if (meaning !== 'stop') return
    this.#isStopping = true
    if (this.#app === undefined) {
      log.info({}, `${name}: stopping as soon as the start is complete; a second signal ends it at once`)
    } else {
      log.info({}, `${name}: stopping after the running requests; a second signal ends them at once`)
      this.#close(this.#app)
    }
  }

  #replaceWorkers(): void {
    const { log } = this.#options
    // Those of a start are new, and a stop ends them.
    if (this.#isStopping || this.#app === undefined) return
    log.info({}, 'SIGHUP: replacing the gateway workers one by one')
    this.#app.replaceWorkers?.().catch(error => log.warn({ err: error }, 'gateway workers were not replaced'))
  }

  #close(app: App): void {
    const { log, exit } = this.#options
    this.#closing = app.close().then(
      counts => {
        log.info(counts, `stopped${describe(counts)}`)
        exit(this.#isForced ? 1 : 0)
      },
      async error => {
        log.fatal({ err: error }, 'could not stop cleanly')
        await this.#options.endDatabase()
        exit(1)
      },
    )
  }

  async #force(name: NodeJS.Signals): Promise<void> {
    const { log, endDatabase, exit, forcedCloseMs = FORCED_CLOSE_MS } = this.#options
    this.#isForced = true
    log.warn({}, `${name} again: ending now`)
    let counts: StopCounts | undefined
    this.#app?.cut().then(
      found => {
        counts = found
      },
      () => {},
    )
    if (this.#closing !== undefined) {
      const closed = this.#closing.then(() => true)
      const late = new Promise<boolean>(resolve => setTimeout(() => resolve(false), forcedCloseMs))
      if (await Promise.race([closed, late])) return
    }
    await endDatabase()
    log.warn(counts ?? {}, `ended by force${counts === undefined ? '' : describe(counts)}`)
    exit(1)
  }
}

type Log = StopOptions['log']

function guarded(log: Log, level: keyof Log): Log['info'] {
  return (details, message) => {
    try {
      log[level](details, message)
    } catch {
      // The log cannot be written any more.
    }
  }
}

function describe({ finished, cut }: StopCounts): string {
  if (finished + cut === 0) return ': no request was running'
  return `: ${count(finished)} finished, ${count(cut)} cut`
}

function count(requests: number): string {
  return requests === 1 ? '1 request' : `${requests} requests`
}
