import { type OnException, throwLater } from '../../core/on-exception.ts'
import { type CallHandler, CallTopic } from './call-topic.ts'
import { CALLS_TOPIC } from './topic.ts'
import type { TopicChannel } from './worker-channel.ts'

/** A worker's calls to its supervisor, and its answers to the supervisor's. Create it in the tick that created the channel. */
export class WorkerCalls {
  readonly #topic: CallTopic
  readonly #handlers = new Map<string, CallHandler>()
  readonly #openings: (() => void)[] = []
  readonly #closings: (() => void)[] = []

  constructor(channel: TopicChannel, onException: OnException = throwLater) {
    this.#topic = new CallTopic({
      schedule: () => channel.schedule(CALLS_TOPIC),
      handlers: this.#handlers,
      from: '',
      onException,
      onOpened: () => {
        for (const note of this.#openings) note()
      },
      onClosed: () => {
        for (const note of this.#closings) note()
      },
    })
    channel.setTopic(CALLS_TOPIC, this.#topic)
  }

  handle(name: string, handler: CallHandler): void {
    this.#handlers.set(name, handler)
  }

  /** Registers what runs when the supervisor is reached, again after each loss of it, and when it is lost. */
  onConnection(opened: () => void, closed: () => void): void {
    this.#openings.push(opened)
    this.#closings.push(closed)
    if (this.#topic.isOpen) opened()
  }

  call(name: string, body: unknown, timeoutMs: number): Promise<unknown> {
    return this.#topic.call(name, body, timeoutMs)
  }

  notify(name: string, body: unknown): void {
    this.#topic.notify(name, body)
  }
}
