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

/** The place of one worker, which others take when it ends. */
interface Place {
  worker: WorkerProcess | undefined
  /** When it began to listen. */
  steadyAt: number
  /** Ends in a row of workers that did not listen for long. */
  failures: number
  pause: NodeJS.Timeout | undefined
  /** Another worker is on its way to this place already. */
  isReplacing: boolean
}

/** Keeps a number of gateway workers running. */
export class WorkerPool {
  readonly #options: WorkerPoolOptions
  readonly #places: Place[]
  readonly #running = new Set<WorkerProcess>()
  #stopping: Promise<WorkerCounts> | undefined
  #replacing: Promise<void> | undefined
  #isReplacedAgain = false

  constructor(options: WorkerPoolOptions) {
    this.#options = options
    this.#places = Array.from({ length: options.size }, () => ({
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
    const workers = this.#places.map(() => this.#fork())
    try {
      await Promise.all(workers.map(({ listening }) => listening))
    } catch (error) {
      this.#stopping = Promise.resolve({ finished: 0, cut: 0 })
      await this.#killAll()
      throw error
    }
    for (const [index, place] of this.#places.entries()) this.#take(place, workers[index] as WorkerProcess)
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
    for (const { pause } of this.#places) clearTimeout(pause)
    const workers = [...this.#running]
    for (const worker of workers) worker.stop(false)
    const counts = await Promise.all(workers.map(({ finished }) => finished))
    const sum = { finished: 0, cut: 0 }
    for (const each of counts) {
      sum.finished += each?.finished ?? 0
      sum.cut += each?.cut ?? 0
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

  #take(place: Place, worker: WorkerProcess): void {
    place.worker = worker
    place.steadyAt = performance.now() + (this.#options.steadyMs ?? STEADY_MS)
    void worker.ended.then(({ code, signal }) => {
      if (place.worker !== worker) return
      place.worker = undefined
      if (this.#stopping !== undefined) return
      this.#options.log.error({ worker: worker.pid, code, signal }, 'a gateway worker ended and is replaced')
      if (performance.now() >= place.steadyAt) place.failures = 0
      if (!place.isReplacing) this.#refill(place)
    })
  }

  /** Starts a worker at once, or after a pause if the ones before did not live long. */
  #refill(place: Place): void {
    const pauseMs =
      place.failures === 0 ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** (place.failures - 1), LAST_PAUSE_MS)
    place.failures++
    place.pause = setTimeout(() => void this.#start(place), pauseMs)
  }

  async #start(place: Place): Promise<void> {
    if (this.#stopping !== undefined) return
    const worker = this.#fork()
    try {
      await worker.listening
      this.#take(place, worker)
    } catch (error) {
      if (this.#stopping !== undefined) return
      const details = { alarm: 'workers', err: error, failures: place.failures }
      this.#options.log.error(details, 'a gateway worker could not start; it is tried again')
      this.#refill(place)
    }
  }

  async #replaceEach(): Promise<void> {
    const { log } = this.#options
    for (const place of this.#places) {
      if (this.#stopping !== undefined) return
      // An empty place gets a worker of its own.
      if (place.worker === undefined) continue
      place.isReplacing = true
      const next = this.#fork()
      try {
        await next.listening
      } catch (error) {
        place.isReplacing = false
        if (place.worker === undefined && this.#stopping === undefined) this.#refill(place)
        const details = { alarm: 'workers', err: error }
        return log.error(details, 'a gateway worker could not start; the others are not replaced')
      }
      place.isReplacing = false
      const old: WorkerProcess | undefined = place.worker
      this.#take(place, next)
      // A stop that came meanwhile has told this one too.
      if (this.#stopping !== undefined) return
      old?.stop(true)
      await Promise.race([old?.ended, wait(REPLACE_EVERY_MS)])
    }
    log.info({ workers: this.#places.length }, 'all gateway workers were replaced')
  }
}

/** Resolves after this time, for which the process does not run on. */
async function wait(timeMs: number): Promise<void> {
  await new Promise<void>(resolve => setTimeout(resolve, timeMs).unref())
}
