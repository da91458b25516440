import { type OnException, throwLater } from '../../core/on-exception.ts'
import { type CallHandler, CallTopic } from './call-topic.ts'
import type { SupervisorChannel } from './supervisor-channel.ts'
import { CALLS_TOPIC } from './topic.ts'

/** The supervisor's calls to its workers, and its answers to theirs. Create it in the tick in which the channel was opened. */
export class SupervisorCalls {
  /** By the names of the workers that are connected. */
  readonly #topics = new Map<string, CallTopic>()
  readonly #handlers = new Map<string, CallHandler>()

  constructor(channel: SupervisorChannel, onException: OnException = throwLater) {
    channel.setTopic(CALLS_TOPIC, peer => {
      const { worker } = peer
      const topic: CallTopic = new CallTopic({
        schedule: () => peer.schedule(CALLS_TOPIC),
        handlers: this.#handlers,
        from: worker,
        onException,
        onOpened: () => void this.#topics.set(worker, topic),
        onClosed: () => {
          if (this.#topics.get(worker) === topic) this.#topics.delete(worker)
        },
      })
      return topic
    })
  }

  handle(name: string, handler: CallHandler): void {
    this.#handlers.set(name, handler)
  }

  /** The names of the workers that are connected. */
  get workers(): readonly string[] {
    return [...this.#topics.keys()]
  }

  /** Calls every connected worker but one. Resolves with the results of those that answer in time, by their names. */
  async callAll(
    name: string,
    body: unknown,
    timeoutMs: number,
    except?: string,
  ): Promise<ReadonlyMap<string, unknown>> {
    const results = new Map<string, unknown>()
    const calls = [...this.#topics].map(async ([worker, topic]) => {
      if (worker === except) return
      try {
        results.set(worker, await topic.call(name, body, timeoutMs))
      } catch {
        // A worker that is killed or stalled has no result.
      }
    })
    await Promise.all(calls)
    return results
  }

  /** Calls every connected worker but one. Resolves with true as soon as one of them returns true. */
  async callUntilTrue(name: string, body: unknown, timeoutMs: number, except?: string): Promise<boolean> {
    const calls = [...this.#topics].map(async ([worker, topic]) => {
      if (worker === except || (await topic.call(name, body, timeoutMs)) !== true) throw new Error('not true')
    })
    return await Promise.any(calls).then(
      () => true,
      () => false,
    )
  }

  notify(worker: string, name: string, body: unknown): void {
    this.#topics.get(worker)?.notify(name, body)
  }

  /** Notifies every connected worker but one. */
  notifyAll(name: string, body: unknown, except?: string): void {
    for (const [worker, topic] of this.#topics) if (worker !== except) topic.notify(name, body)
  }
}
