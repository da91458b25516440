import { connect } from 'node:net'
import { encodeHello, parseWelcome } from './hello.ts'
import { Link } from './link.ts'
import type { Topic } from './topic.ts'

export interface WorkerChannelOptions {
  /** Path of the supervisor's socket. */
  readonly path: string
  /** Identifies this worker process. No two running ones have the same name. */
  readonly worker: string
  readonly log: (line: string) => void
  readonly heartbeatMs?: number
  readonly silentMs?: number
}

/** The first pause between attempts to connect, and the longest. */
const FIRST_RETRY_MS = 10
const LAST_RETRY_MS = 500

/** What a topic of a worker needs of its channel. */
export interface TopicChannel {
  readonly isOpen: boolean
  /** Why it is not open. */
  readonly reason: string
  setTopic(number: number, topic: Topic): void
  schedule(number: number): void
}

/**
 * The worker's side of the channel to its supervisor. It connects again by itself for as long as the process runs. Another
 * life of the supervisor is not talked to, because it does not know what this worker has reserved.
 */
export class WorkerChannel implements TopicChannel {
  readonly #options: WorkerChannelOptions
  readonly #topics = new Map<number, Topic>()
  #link: Link | undefined
  #isOpen = false
  #isClosed = false
  #reason = 'the supervisor was not reached yet'
  #run: string | undefined
  #retry: NodeJS.Timeout | undefined
  #retryMs = FIRST_RETRY_MS
  #waiting: (() => void)[] = []

  constructor(options: WorkerChannelOptions) {
    this.#options = options
    this.#connect()
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  get reason(): string {
    return this.#reason
  }

  /** To be called in the tick that created the channel, so before it opens. */
  setTopic(number: number, topic: Topic): void {
    this.#topics.set(number, topic)
  }

  schedule(number: number): void {
    if (this.#isOpen) this.#link?.schedule(number)
  }

  /** Resolves when the channel is open, at the latest after `timeoutMs`. */
  async whenOpen(timeoutMs: number): Promise<boolean> {
    if (this.#isOpen) return true
    let timer: NodeJS.Timeout | undefined
    const timeout = new Promise<void>(resolve => {
      timer = setTimeout(resolve, timeoutMs)
    })
    await Promise.race([timeout, new Promise<void>(resolve => this.#waiting.push(resolve))])
    clearTimeout(timer)
    return this.#isOpen
  }

  /** Ends the channel. Call it once no topic has anything more to send. */
  close(): void {
    this.#isClosed = true
    clearTimeout(this.#retry)
    this.#link?.close('this worker has closed its channel')
  }

  #connect(): void {
    const { path, worker, heartbeatMs, silentMs } = this.#options
    const link = new Link({
      socket: connect(path),
      heartbeatMs,
      silentMs,
      onFirst: text => this.#open(text, link),
      onClosed: reason => this.#markLost(reason),
    })
    this.#link = link
    link.sendFirst(encodeHello({ worker, pid: process.pid }))
  }

  #open(text: string, link: Link): void {
    const { run } = parseWelcome(text)
    this.#run ??= run
    if (run !== this.#run) throw new Error('another supervisor has taken its place')
    this.#isOpen = true
    this.#retryMs = FIRST_RETRY_MS
    for (const [number, topic] of this.#topics) {
      link.setTopic(number, topic)
      topic.opened?.()
    }
    for (const resume of this.#waiting.splice(0)) resume()
  }

  #markLost(reason: string): void {
    const isNews = this.#isOpen || this.#reason !== toReason(reason)
    this.#isOpen = false
    this.#reason = toReason(reason)
    if (this.#isClosed) return
    if (isNews) this.#options.log(this.#reason)
    this.#retry = setTimeout(() => this.#connect(), this.#retryMs)
    this.#retry.unref()
    this.#retryMs = Math.min(this.#retryMs * 2, LAST_RETRY_MS)
  }
}

function toReason(reason: string): string {
  return `the supervisor, which counts the limits, is unreachable: ${reason}`
}
