import { type OnException, runGuarded } from '../../core/on-exception.ts'
import { HEADER_BYTES, MAX_FRAME_BYTES } from './frames.ts'
import type { Topic } from './topic.ts'

/** Answers calls and notifications of a name. `from`: the name of the worker that sent it; '' for the supervisor. */
export type CallHandler = (body: unknown, from: string) => unknown

export interface CallTopicOptions {
  readonly schedule: () => void
  readonly handlers: ReadonlyMap<string, CallHandler>
  readonly from: string
  readonly onException: OnException
  readonly onOpened?: () => void
  readonly onClosed?: () => void
}

/** A frame is a JSON array of these. */
type Entry =
  | readonly ['call', number, string, unknown]
  | readonly ['result', number, unknown]
  | readonly ['error', number, string]
  | readonly ['note', string, unknown]

interface PendingCall {
  readonly resolve: (result: unknown) => void
  readonly reject: (error: Error) => void
  readonly timer: NodeJS.Timeout
}

/** The most characters of one frame: each takes at most three bytes. */
const MAX_CHARS = Math.floor((MAX_FRAME_BYTES - HEADER_BYTES) / 3) - 2

/** Calls and notifications with JSON bodies, in both directions and in order. For what happens less than once a request. */
export class CallTopic implements Topic {
  readonly #options: CallTopicOptions
  readonly #pending = new Map<number, PendingCall>()
  #unsent: string[] = []
  #isOpen = false
  #calls = 0

  constructor(options: CallTopicOptions) {
    this.#options = options
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Resolves with what the handler of the other side returned. Rejects where that failed, is late or is unreachable. */
  call(name: string, body: unknown, timeoutMs: number): Promise<unknown> {
    if (!this.#isOpen) return Promise.reject(new Error(`${name}: the channel is closed`))
    const number = this.#calls++
    return new Promise((resolve, reject) => {
      const late = (): void => this.#take(number)?.reject(new Error(`${name}: no answer in ${timeoutMs} ms`))
      const timer = setTimeout(late, timeoutMs)
      timer.unref()
      this.#pending.set(number, { resolve, reject, timer })
      this.#send(['call', number, name, body])
    })
  }

  /** Notifies the other side, if it is reachable. */
  notify(name: string, body: unknown): void {
    if (this.#isOpen) this.#send(['note', name, body])
  }

  opened(): void {
    this.#isOpen = true
    this.#options.onOpened?.()
  }

  closed(reason: string): void {
    this.#isOpen = false
    this.#unsent = []
    for (const number of this.#pending.keys()) this.#take(number)?.reject(new Error(reason))
    this.#options.onClosed?.()
  }

  take(): Buffer | undefined {
    if (this.#unsent.length === 0) return undefined
    let chars = 0
    let count = 0
    for (const text of this.#unsent) {
      chars += text.length + 1
      if (chars > MAX_CHARS && count > 0) break
      count++
    }
    const text = this.#unsent.splice(0, count).join(',')
    if (this.#unsent.length > 0) this.#options.schedule()
    return Buffer.from(`${' '.repeat(HEADER_BYTES)}[${text}]`)
  }

  receive(payload: Buffer): void {
    const entries: unknown = JSON.parse(payload.toString())
    if (!Array.isArray(entries)) throw new Error('calls must be a list')
    for (const entry of entries) this.#receiveEntry(entry as Entry)
  }

  #receiveEntry(entry: Entry): void {
    if (entry[0] === 'call') void this.#answer(entry[1], entry[2], entry[3])
    else if (entry[0] === 'note') this.#apply(entry[1], entry[2])
    else if (entry[0] === 'result') this.#take(entry[1])?.resolve(entry[2])
    else if (entry[0] === 'error') this.#take(entry[1])?.reject(new Error(entry[2]))
    else throw new Error('an entry that is no call, result or notification')
  }

  async #answer(number: number, name: string, body: unknown): Promise<void> {
    const { handlers, from, onException } = this.#options
    const handler = handlers.get(name)
    if (handler === undefined) return this.#reply(['error', number, `${name}: nothing handles it`])
    try {
      this.#reply(['result', number, (await handler(body, from)) ?? null])
    } catch (error) {
      onException(error, `the call ${name} between supervisor and worker`)
      this.#reply(['error', number, `${name}: ${(error as Error).message}`])
    }
  }

  #reply(entry: Entry): void {
    if (this.#isOpen) this.#send(entry)
  }

  /** A notification that nothing handles is ignored: a part that opens later asks for what it has missed. */
  #apply(name: string, body: unknown): void {
    const { handlers, from, onException } = this.#options
    const handler = handlers.get(name)
    const where = `the notification ${name} between supervisor and worker`
    if (handler !== undefined) runGuarded(where, onException, () => handler(body, from))
  }

  #send(entry: Entry): void {
    const text = JSON.stringify(entry)
    if (text.length > MAX_CHARS) throw new Error(`a message of ${text.length} characters is too long`)
    this.#unsent.push(text)
    this.#options.schedule()
  }

  #take(number: number): PendingCall | undefined {
    const pending = this.#pending.get(number)
    this.#pending.delete(number)
    clearTimeout(pending?.timer)
    return pending
  }
}
