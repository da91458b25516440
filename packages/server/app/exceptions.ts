import { inspect } from 'node:util'
import type { OnException } from '../core/on-exception.ts'

/** What an exception met: one request, work of nobody's request, or only the process's own handler. */
export type ExceptionKind = 'request' | 'background' | 'process'

export interface ExceptionLog {
  error(details: object, message: string): void
}

/** The exceptions that no caller waited for: each is an alarm in the log, and counts for `/metrics`. */
export class Exceptions {
  readonly #log: ExceptionLog
  readonly #counts = { request: 0, background: 0, process: 0 }

  constructor(log: ExceptionLog) {
    this.#log = log
  }

  get counts(): Readonly<Record<ExceptionKind, number>> {
    return this.#counts
  }

  /** Bound, since it is handed to what knows nothing of this class. */
  readonly note: OnException = (error, where, requestId) => {
    this.#write(requestId === undefined ? 'background' : 'request', error, where, requestId)
  }

  /** `where`: the process's event that told of it. */
  noteProcess(error: unknown, where: string): void {
    this.#write('process', error, where, undefined)
  }

  #write(kind: ExceptionKind, error: unknown, where: string, requestId: string | undefined): void {
    this.#counts[kind]++
    try {
      // What is thrown may be anything.
      const err = error instanceof Error ? error : inspect(error, { depth: 2, maxStringLength: 1000 })
      this.#log.error({ alarm: 'exception', kind, where, requestId, err }, 'an exception on our side')
    } catch {
      // A log that cannot be written to must not end what goes on; the count still tells.
    }
  }
}
