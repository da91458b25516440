import { type OnException, runGuarded, throwLater } from '../core/on-exception.ts'
import { openRedis } from './open-redis.ts'

/** Reaches the requests that run in other gateway processes, so that a cancel works wherever it arrives. */
export interface Cancellations {
  /** Stops a request in whichever process it runs; false where none has it, or where they cannot be asked. */
  cancel(environmentId: string, requestId: string, endUserId: string | null): Promise<boolean>
  close(): void
}

export interface CancellationsOptions {
  readonly url: string
  /** Stops a request of this process; false where none runs by that id. */
  readonly cancelHere: (environmentId: string, requestId: string, endUserId: string | null) => boolean
  readonly newId: () => string
  readonly log: (line: string) => void
  readonly onException?: OnException
  /** A process that has not answered after so long does not count. */
  readonly patienceMs?: number
}

const QUESTIONS = 'rideau:cancel'

interface Question {
  readonly ask: string
  readonly from: string
  readonly environmentId: string
  readonly requestId: string
  /** Whose it must be; null: anybody's. */
  readonly endUserId: string | null
}

interface Answer {
  readonly ask: string
  readonly canceled: boolean
}

/**
 * Every process hears every question and answers it, itself included. Redis tells how many heard it, so nobody waits for
 * a timeout to learn that there is no such request.
 */
export function openCancellations(options: CancellationsOptions): Cancellations {
  const { url, cancelHere, newId, log, onException = throwLater, patienceMs = 1000 } = options
  const here = newId()
  const waiting = new Map<string, Waiting>()
  const talk = openRedis({ url, name: 'rideau-cancel' })
  const hear = openRedis({ url, name: 'rideau-cancel-listener', commandTimeoutMs: 5000 })
  hear.on('message', (channel: string, text: string) =>
    runGuarded('a message of another gateway', onException, () => read(channel, text)),
  )

  function read(channel: string, text: string): void {
    const message = parse(text)
    if (message === undefined) return
    if (channel === QUESTIONS) answer(message as Question)
    else waiting.get(message.ask)?.count((message as Answer).canceled)
  }

  function answer({ ask, from, environmentId, requestId, endUserId }: Question): void {
    const canceled = cancelHere(environmentId, requestId, endUserId)
    const text = JSON.stringify({ ask, canceled } satisfies Answer)
    // Who asked then hears nothing of this process and stops waiting by its own patience.
    talk.publish(answersFor(from), text).catch(() => {})
  }

  // A server that is out of reach now is tried again in the background.
  hear.on('ready', () => hear.subscribe(QUESTIONS, answersFor(here)).catch(() => hear.disconnect(true)))
  for (const redis of [talk, hear]) redis.connect().catch(() => {})

  return {
    async cancel(environmentId, requestId, endUserId) {
      const ask = newId()
      const answers = new Waiting()
      waiting.set(ask, answers)
      const timer = setTimeout(() => answers.end(false), patienceMs)
      const question: Question = { ask, from: here, environmentId, requestId, endUserId }
      try {
        answers.expect(await talk.publish(QUESTIONS, JSON.stringify(question)))
        return await answers.ended
      } catch (error) {
        log(`other gateways could not be asked to cancel a request: ${(error as Error).message}`)
        return false
      } finally {
        clearTimeout(timer)
        waiting.delete(ask)
      }
    },
    close() {
      for (const redis of [talk, hear]) redis.disconnect()
    },
  }
}

/** The answers to one question; they may come before it is known how many there will be. */
class Waiting {
  readonly ended: Promise<boolean>
  end: (canceled: boolean) => void = () => {}
  #expected = Number.POSITIVE_INFINITY
  #counted = 0

  constructor() {
    this.ended = new Promise(resolve => {
      this.end = resolve
    })
  }

  expect(answers: number): void {
    this.#expected = answers
    if (this.#counted >= answers) this.end(false)
  }

  count(canceled: boolean): void {
    this.#counted++
    if (canceled) this.end(true)
    else if (this.#counted >= this.#expected) this.end(false)
  }
}

function answersFor(instance: string): string {
  return `rideau:canceled:${instance}`
}

/** Others may write to the same server: what is not ours is left aside. */
function parse(text: string): Question | Answer | undefined {
  try {
    const value = JSON.parse(text)
    return typeof value?.ask === 'string' ? value : undefined
  } catch {
    return undefined
  }
}
