import type { FromWorker, ToWorker, WorkerCounts, WorkerStart } from '../workers/processes/worker-messages.ts'
import { Exceptions } from './process/exceptions.ts'
import { setHeapOptions } from './process/heap-options.ts'
import { lowerHelperThreads } from './process/helper-threads.ts'
import { openLog } from './process/open-log.ts'
import { handleProcessExceptions } from './process/process-exceptions.ts'
import { parseConfig } from './settings/settings.ts'
import { STOP_SIGNALS } from './stop-on-signals.ts'
import { openWorkerApp, type WorkerApp } from './workers/worker-app.ts'

/** A worker without its supervisor ends at the latest after this time. The next supervisor waits for it. */
const ORPHAN_MS = 5_000

/** The process, of which only its signals and its channel to the supervisor are used. */
type WorkerSide = Pick<NodeJS.Process, 'on' | 'send' | 'disconnect' | 'exit' | 'connected'>

/**
 * Runs this process as a gateway worker until its supervisor stops it. The supervisor decides what a signal means, since a
 * terminal signals all of them. A worker whose supervisor is gone ends at once: nothing counts limits until the next one has
 * its port and its journal.
 */
export async function runWorker(
  env: Readonly<Record<string, string | undefined>>,
  side: WorkerSide,
): Promise<void> {
  setHeapOptions()
  lowerHelperThreads()
  for (const name of STOP_SIGNALS) side.on(name, () => {})
  // A terminal or a reader that has gone must not end the program.
  process.stdout.on('error', () => {})
  const send = async (message: FromWorker): Promise<void> => {
    if (side.connected)
      await new Promise<void>(resolve => side.send?.(message, undefined, undefined, () => resolve()))
  }
  const role = new WorkerRole(side, send, env)
  side.on('message', (message, handle) => role.receive(message as ToWorker, handle as unknown as object))
  side.on('disconnect', () => role.noteOrphaned())
}

class WorkerRole {
  readonly #side: WorkerSide
  readonly #send: (message: FromWorker) => Promise<void>
  readonly #env: Readonly<Record<string, string | undefined>>
  #app: WorkerApp | undefined
  #isStopping = false
  /** Told to stop before it had started. */
  #stopLater: boolean | undefined
  #isCut = false
  #isOrphaned = false

  constructor(
    side: WorkerSide,
    send: (message: FromWorker) => Promise<void>,
    env: Readonly<Record<string, string | undefined>>,
  ) {
    this.#side = side
    this.#send = send
    this.#env = env
  }

  receive(message: ToWorker, handle: object): void {
    if (message.type === 'start') void this.#start(message)
    else if (message.type === 'listen') void this.#listen(handle)
    else if (message.type === 'stop') this.#stop(message.isReplaced)
    else {
      this.#isCut = true
      this.#app?.cut()
    }
  }

  noteOrphaned(): void {
    if (this.#isCut || this.#app === undefined) return this.#side.exit(1)
    this.#isOrphaned = true
    this.#app.cut()
    this.#stop(false)
    setTimeout(() => this.#side.exit(1), ORPHAN_MS).unref()
  }

  async #start(start: WorkerStart): Promise<void> {
    try {
      const config = parseConfig(this.#env)
      const log = openLog(config)
      const exceptions = new Exceptions(log)
      const started = handleProcessExceptions(exceptions)
      this.#app = await openWorkerApp(config, start, log, exceptions)
      started()
    } catch (error) {
      return await this.#fail(error)
    }
    if (this.#stopLater !== undefined) return this.#stop(this.#stopLater)
    await this.#send({ type: 'prepared' })
  }

  async #listen(handle: object): Promise<void> {
    try {
      await this.#app?.listen(handle)
      await this.#send({ type: 'listening' })
    } catch (error) {
      await this.#fail(error)
    }
  }

  async #fail(error: unknown): Promise<void> {
    const { name, message, stack } = error as Error
    // The supervisor shows the message of a wrong setting alone.
    await this.#send({ type: 'failed', name, message: name === 'ConfigError' ? message : (stack ?? message) })
    this.#side.exit(1)
  }

  #stop(isReplaced: boolean): void {
    if (this.#app === undefined) {
      this.#stopLater = isReplaced
      return
    }
    if (!isReplaced) this.#app.stopSoon()
    if (this.#isStopping) return
    this.#isStopping = true
    void this.#close(this.#app, isReplaced)
  }

  async #close(app: WorkerApp, isReplaced: boolean): Promise<void> {
    const onFinished = (counts: WorkerCounts): void => {
      // The records of all its requests are in its journal, which the next supervisor replays.
      if (this.#isOrphaned) this.#side.exit(1)
      void this.#send({ type: 'finished', counts })
    }
    try {
      const metrics = await app.close(isReplaced, onFinished)
      await this.#send({ type: 'stopped', metrics })
      this.#side.exit(0)
    } catch {
      // It was logged. What is left is replayed.
      this.#side.exit(1)
    }
  }
}
