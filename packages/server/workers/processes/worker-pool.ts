import type { WorkerCounts } from './worker-messages.ts'
import type { WorkerEnd, WorkerProcess } from './worker-process.ts'

export interface WorkerPoolOptions {
  readonly size: number
  readonly fork: () => WorkerProcess
  /** Called when a worker's process has ended, whatever the reason. */
  readonly onEnded: (worker: WorkerProcess, end: WorkerEnd) => void
  readonly log: {
    info(details: object, message: string): void
    error(details: object, message: string): void
  }
  /** How long a worker must have listened so that its end counts as the first one. */
  readonly steadyMs?: number
}

const STEADY_MS = 10_000
/** The pause before a worker whose predecessor could not start, which doubles up to the longest. The first has none. */
const FIRST_PAUSE_MS = 100
const LAST_PAUSE_MS = 10_000

/** A worker that still has requests or connections does not hold up the replacement of the others for longer. */
const REPLACE_EVERY_MS = 5_000

/** The slot of one worker. When the worker ends, another fills the slot. */
interface WorkerSlot {
  worker: WorkerProcess | undefined
  /** When it began to listen. */
  steadyAt: number
  /** Ends in a row of workers that did not listen for long. */
  failures: number
  pause: NodeJS.Timeout | undefined
  /** A replacement of the worker is being started already. */
  isReplacing: boolean
}

/** Keeps a number of gateway workers running. */
export class WorkerPool {
  readonly #options: WorkerPoolOptions
  readonly #slots: WorkerSlot[]
  readonly #running = new Set<WorkerProcess>()
  #stopping: Promise<WorkerCounts> | undefined
  #replacing: Promise<void> | undefined
  #isReplacedAgain = false

  constructor(options: WorkerPoolOptions) {
    this.#options = options
    this.#slots = Array.from({ length: options.size }, () => ({
      worker: undefined,
      steadyAt: Number.POSITIVE_INFINITY,
      failures: 0,
      pause: undefined,
      isReplacing: false,
    }))
  }

  /** The workers whose processes run. */
  get running(): ReadonlySet<WorkerProcess> {
    return this.#running
  }

  /** Starts all workers. Rejects, with none left running, if one of them does not come to listen. */
  async start(): Promise<void> {
    const workers = this.#slots.map(() => this.#fork())
    try {
      await Promise.all(workers.map(({ listening }) => listening))
    } catch (error) {
      this.#stopping = Promise.resolve({ finished: 0, cut: 0 })
      await this.#killAll()
      throw error
    }
    for (const [index, slot] of this.#slots.entries()) this.#fill(slot, workers[index] as WorkerProcess)
  }

  /** Replaces the workers one by one: the new one listens before the old one stops. Another call meanwhile does it again. */
  replaceAll(): Promise<void> {
    if (this.#replacing !== undefined) this.#isReplacedAgain = true
    this.#replacing ??= this.#replaceEach().finally(() => {
      this.#replacing = undefined
      if (this.#isReplacedAgain && this.#stopping === undefined) {
        this.#isReplacedAgain = false
        void this.replaceAll()
      }
    })
    return this.#replacing
  }

  /** Stops all workers. Resolves once no request runs any more. */
  stop(): Promise<WorkerCounts> {
    this.#stopping ??= this.#stopAll()
    return this.#stopping
  }

  /** Ends the time of running requests. */
  cut(): void {
    for (const worker of this.#running) worker.cut()
  }

  /** Resolves once no process of a worker is left. */
  async whenEnded(): Promise<void> {
    await Promise.all([...this.#running].map(({ ended }) => ended))
  }

  #killAll(): Promise<void> {
    for (const worker of this.#running) worker.kill()
    return this.whenEnded()
  }

  async #stopAll(): Promise<WorkerCounts> {
    for (const { pause } of this.#slots) clearTimeout(pause)
    const workers = [...this.#running]
    for (const worker of workers) worker.stop(false)
    const counts = await Promise.all(workers.map(({ finished }) => finished))
    const sum = { finished: 0, cut: 0 }
    for (const count of counts) {
      sum.finished += count?.finished ?? 0
      sum.cut += count?.cut ?? 0
    }
    return sum
  }

  #fork(): WorkerProcess {
    const worker = this.#options.fork()
    this.#running.add(worker)
    void worker.ended.then(end => {
      this.#running.delete(worker)
      this.#options.onEnded(worker, end)
    })
    return worker
  }

  #fill(slot: WorkerSlot, worker: WorkerProcess): void {
    slot.worker = worker
    slot.steadyAt = performance.now() + (this.#options.steadyMs ?? STEADY_MS)
    void worker.ended.then(({ code, signal }) => {
      if (slot.worker !== worker) return
      slot.worker = undefined
      if (this.#stopping !== undefined) return
      this.#options.log.error({ worker: worker.pid, code, signal }, 'a gateway worker ended and is replaced')
      if (performance.now() >= slot.steadyAt) slot.failures = 0
      if (!slot.isReplacing) this.#refill(slot)
    })
  }

  /** Starts a worker at once, or after a pause if the ones before did not live long. */
  #refill(slot: WorkerSlot): void {
    const pauseMs =
      slot.failures === 0 ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** (slot.failures - 1), LAST_PAUSE_MS)
    slot.failures++
    slot.pause = setTimeout(() => void this.#start(slot), pauseMs)
  }

  async #start(slot: WorkerSlot): Promise<void> {
    if (this.#stopping !== undefined) return
    const worker = this.#fork()
    try {
      await worker.listening
      this.#fill(slot, worker)
    } catch (error) {
      if (this.#stopping !== undefined) return
      const details = { alarm: 'workers', err: error, failures: slot.failures }
      this.#options.log.error(details, 'a gateway worker could not start; it is tried again')
      this.#refill(slot)
    }
  }

  async #replaceEach(): Promise<void> {
    const { log } = this.#options
    for (const slot of this.#slots) {
      if (this.#stopping !== undefined) return
      // An empty slot gets a worker of its own.
      if (slot.worker === undefined) continue
      slot.isReplacing = true
      const next = this.#fork()
      try {
        await next.listening
      } catch (error) {
        slot.isReplacing = false
        if (slot.worker === undefined && this.#stopping === undefined) this.#refill(slot)
        const details = { alarm: 'workers', err: error }
        return log.error(details, 'a gateway worker could not start; the others are not replaced')
      }
      slot.isReplacing = false
      const old: WorkerProcess | undefined = slot.worker
      this.#fill(slot, next)
      // A stop that came meanwhile has told this one too.
      if (this.#stopping !== undefined) return
      old?.stop(true)
      await Promise.race([old?.ended, wait(REPLACE_EVERY_MS)])
    }
    log.info({ workers: this.#slots.length }, 'all gateway workers were replaced')
  }
}

/** Resolves after this time, for which the process does not run on. */
async function wait(timeMs: number): Promise<void> {
  await new Promise<void>(resolve => setTimeout(resolve, timeMs).unref())
}
