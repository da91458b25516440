import { type ChildProcess, fork, type SendHandle } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import type { PortHandle } from './shared-port.ts'
import {
  type FromWorker,
  type ToWorker,
  WORKER_ROLE,
  type WorkerCounts,
  type WorkerStart,
} from './worker-messages.ts'

export interface WorkerProcessOptions {
  /** The program's file, which runs as a worker if its first argument is WORKER_ROLE. */
  readonly file: string
  readonly start: Omit<WorkerStart, 'type' | 'worker'>
  readonly port: PortHandle
}

/** How a worker ended. */
export interface WorkerEnd {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** All its records are in the database or were left in its journal by its own decision. */
  readonly isOrderly: boolean
  /** What it measured, at an orderly end. */
  readonly metrics: unknown
}

/**
 * V8 gives each process four threads for garbage collection and compilation. With a worker for each core they are four times as
 * many as the cores, and requests wait for them. An option of the operator's own, which comes later, counts.
 */
const ONE_HELPER = '--v8-pool-size=1'

/** A gateway worker, seen from its supervisor. */
export class WorkerProcess {
  readonly name = randomUUID()
  /** Resolves once it accepts connections. Rejects if it ends before. */
  readonly listening: Promise<void>
  /** Resolves with what became of its requests; undefined if it was killed. */
  readonly finished: Promise<WorkerCounts | undefined>
  readonly ended: Promise<WorkerEnd>
  readonly #child: ChildProcess
  #failure: Error | undefined
  #metrics: unknown
  #isOrderly = false
  #hasPort = false
  #isStopping = false
  #noteListening: () => void = () => {}
  #noteFinished: (counts: WorkerCounts | undefined) => void = () => {}

  constructor({ file, start, port }: WorkerProcessOptions) {
    this.#child = fork(file, [WORKER_ROLE, this.name], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      execArgv: [ONE_HELPER, ...process.execArgv],
    })
    const child = this.#child
    child.on('message', message => this.#receive(message as FromWorker, port))
    child.on('error', error => {
      this.#failure ??= error
    })
    this.ended = new Promise(resolve => {
      const end = (code: number | null, signal: NodeJS.Signals | null): void =>
        resolve({ code, signal, isOrderly: this.#isOrderly, metrics: this.#metrics })
      // After its last message, unlike 'exit'.
      child.once('close', end)
      // A process that could not be started at all has no end.
      child.once('error', () => child.pid === undefined && end(null, null))
    })
    this.listening = new Promise((resolve, reject) => {
      this.#noteListening = resolve
      void this.ended.then(({ code, signal }) => reject(this.#failure ?? toError(code, signal)))
    })
    this.listening.catch(() => {})
    this.finished = new Promise(resolve => {
      this.#noteFinished = resolve
      void this.ended.then(() => resolve(undefined))
    })
    this.#send({ type: 'start', worker: this.name, ...start })
  }

  /** Whether it may have served requests. */
  get hasPort(): boolean {
    return this.#hasPort
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  /** Tells it to stop. `isReplaced`: other workers serve the port. */
  stop(isReplaced: boolean): void {
    this.#isStopping = true
    this.#send({ type: 'stop', isReplaced })
  }

  cut(): void {
    this.#send({ type: 'cut' })
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }

  #send(message: ToWorker, handle?: PortHandle): void {
    // One that has just ended is not sent to; its end is noted anyway.
    if (this.#child.connected) this.#child.send(message, handle as unknown as SendHandle, () => {})
  }

  #receive(message: FromWorker, port: PortHandle): void {
    if (message.type === 'prepared') {
      // The port may be closed already.
      if (this.#isStopping) return
      this.#hasPort = true
      this.#send({ type: 'listen' }, port)
    } else if (message.type === 'listening') this.#noteListening()
    else if (message.type === 'finished') this.#noteFinished(message.counts)
    else if (message.type === 'failed') {
      this.#failure = Object.assign(new Error(message.message), { name: message.name })
    } else {
      this.#isOrderly = true
      this.#metrics = message.metrics
    }
  }
}

function toError(code: number | null, signal: NodeJS.Signals | null): Error {
  return new Error(`a gateway worker ended with ${signal ?? `code ${code}`} before it listened`)
}
