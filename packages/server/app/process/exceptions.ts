import { inspect } from 'node:util'
import type { OnException } from '../../core/on-exception.ts'

/** Where an exception was caught: in one request, in background work, or by the handler of the process. */
export type ExceptionKind = 'request' | 'background' | 'process'

export interface ExceptionLog {
  error(details: object, message: string): void
}

/** Logs each exception that no caller waits for as an alarm, and counts it for `/metrics`. Never throws. */
export class Exceptions {
  readonly #log: ExceptionLog
  readonly #counts = { request: 0, background: 0, process: 0 }

  constructor(log: ExceptionLog) {
    this.#log = log
  }

  get counts(): Readonly<Record<ExceptionKind, number>> {
    return this.#counts
  }

  /** Bound, because it is passed on as a function. */
  readonly note: OnException = (error, where, requestId) => {
    this.#write(requestId === undefined ? 'background' : 'request', error, where, requestId)
  }

  /** `where`: the event of the process that reported it. */
  noteProcess(error: unknown, where: string): void {
    this.#write('process', error, where, undefined)
  }

  #write(kind: ExceptionKind, error: unknown, where: string, requestId: string | undefined): void {
    this.#counts[kind]++
    try {
      // Any value can be thrown.
      const err = error instanceof Error ? error : inspect(error, { depth: 2, maxStringLength: 1000 })
      this.#log.error({ alarm: 'exception', kind, where, requestId, err }, 'an exception on our side')
    } catch {
      // A failing log must not end the running work. The count still shows the exception.
    }
  }
}
