import { type OnException, runGuarded, throwLater } from '../core/on-exception.ts'
import { openRedis } from './open-redis.ts'

/** Cancels requests that run in other gateway processes, so that a cancel works wherever it arrives. */
export interface Cancellations {
  /** Cancels a request in the process that runs it. Resolves with false where no process runs it or none could be reached. */
  cancel(environmentId: string, requestId: string, endUserId: string | null): Promise<boolean>
  close(): void
}

export interface CancellationsOptions {
  readonly url: string
  /** Cancels a request of this process. Returns false where it runs no request of that id. */
  readonly cancelLocal: (environmentId: string, requestId: string, endUserId: string | null) => boolean
  readonly newId: () => string
  readonly log: (line: string) => void
  readonly onException?: OnException
  /** Answers that take longer are ignored. */
  readonly timeoutMs?: number
}

const CANCEL_CHANNEL = 'rideau:cancel'
const TIMEOUT_MS = 1000

interface CancelMessage {
  /** Identifies this cancel in the answers. */
  readonly id: string
  /** The process that sends it. */
  readonly from: string
  readonly environmentId: string
  readonly requestId: string
  /** The end user whose request it must be; null: any. */
  readonly endUserId: string | null
}

interface AnswerMessage {
  readonly id: string
  readonly isCanceled: boolean
}

/**
 * Every process receives every cancel and answers it, the sender included. PUBLISH returns the number of receivers, so a
 * cancel of an unknown request ends with the last answer and not with the timeout.
 */
export function openCancellations(options: CancellationsOptions): Cancellations {
  const { url, cancelLocal, newId, log, onException = throwLater, timeoutMs = TIMEOUT_MS } = options
  const self = newId()
  const pending = new Map<string, PendingCancel>()
  const publisher = openRedis({ url, name: 'rideau-cancel' })
  const subscriber = openRedis({ url, name: 'rideau-cancel-subscriber', commandTimeoutMs: 5000 })
  subscriber.on('message', (channel: string, text: string) =>
    runGuarded('a cancellation by another gateway', onException, () => receive(channel, text)),
  )

  function receive(channel: string, text: string): void {
    const message = parse(text)
    if (message === undefined) return
    if (channel === CANCEL_CHANNEL) answer(message as CancelMessage)
    else pending.get(message.id)?.addAnswer((message as AnswerMessage).isCanceled)
  }

  function answer({ id, from, environmentId, requestId, endUserId }: CancelMessage): void {
    const isCanceled = cancelLocal(environmentId, requestId, endUserId)
    const text = JSON.stringify({ id, isCanceled } satisfies AnswerMessage)
    // If this fails, the sender's timeout ends its wait.
    publisher.publish(answerChannel(from), text).catch(() => {})
  }

  subscriber.on('ready', () =>
    subscriber.subscribe(CANCEL_CHANNEL, answerChannel(self)).catch(() => subscriber.disconnect(true)),
  )
  // The clients go on trying where the first attempt fails.
  for (const redis of [publisher, subscriber]) redis.connect().catch(() => {})

  return {
    async cancel(environmentId, requestId, endUserId) {
      const id = newId()
      const answers = new PendingCancel()
      pending.set(id, answers)
      const timer = setTimeout(() => answers.end(false), timeoutMs)
      const message: CancelMessage = { id, from: self, environmentId, requestId, endUserId }
      try {
        answers.expectAnswers(await publisher.publish(CANCEL_CHANNEL, JSON.stringify(message)))
        return await answers.ended
      } catch (error) {
        log(`a cancel could not be sent to the other gateways: ${(error as Error).message}`)
        return false
      } finally {
        clearTimeout(timer)
        pending.delete(id)
      }
    },
    close() {
      for (const redis of [publisher, subscriber]) redis.disconnect()
    },
  }
}

/** The answers to one cancel. They may arrive before it is known how many to expect. */
class PendingCancel {
  /** Resolves with true if the request was canceled. */
  readonly ended: Promise<boolean>
  end: (isCanceled: boolean) => void = () => {}
  #expected = Number.POSITIVE_INFINITY
  #received = 0

  constructor() {
    this.ended = new Promise(resolve => {
      this.end = resolve
    })
  }

  expectAnswers(count: number): void {
    this.#expected = count
    if (this.#received >= count) this.end(false)
  }

  addAnswer(isCanceled: boolean): void {
    this.#received++
    if (isCanceled) this.end(true)
    else if (this.#received >= this.#expected) this.end(false)
  }
}

function answerChannel(instance: string): string {
  return `rideau:canceled:${instance}`
}

/** Returns undefined for messages of other programs, which may publish on the same server. */
function parse(text: string): CancelMessage | AnswerMessage | undefined {
  try {
    const value = JSON.parse(text)
    return typeof value?.id === 'string' ? value : undefined
  } catch {
    return undefined
  }
}
