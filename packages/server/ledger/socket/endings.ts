import type { MeteredUsage } from '../../core/limits/metered-usage.ts'

/** The settlement of a request or, without a usage, its release. */
export interface Ending {
  readonly id: string
  readonly usage: MeteredUsage | undefined
}

/** The endings of one message. */
interface SentEndings {
  readonly endings: Ending[]
  /** Resolves when the supervisor has carried them out, or the connection is lost. */
  readonly done: Promise<void>
  readonly resolve: () => void
}

/**
 * The settlements and releases that the supervisor has not acknowledged. Those of a lost connection are sent again over the
 * next one; one that was carried out already changes nothing then.
 */
export class Endings {
  /** The endings of each message under way. undefined: the message has none. */
  #sent: (SentEndings | undefined)[] = []
  #next: SentEndings | undefined
  #undelivered: Ending[] = []

  /** Adds an ending to the next message. The promise never rejects. */
  add(ending: Ending): Promise<void> {
    this.#next ??= toSentEndings()
    this.#next.endings.push(ending)
    return this.#next.done
  }

  /** Keeps an ending until there is a connection. */
  keep(ending: Ending): void {
    this.#undelivered.push(ending)
  }

  get messagesInFlight(): number {
    return this.#sent.length
  }

  /** A message is being sent. The endings that were added belong to the last of several messages that are ready. */
  noteSent({ isLast }: { readonly isLast: boolean }): void {
    if (!isLast) return void this.#sent.push(undefined)
    this.#sent.push(this.#next)
    this.#next = undefined
  }

  /** The oldest message was carried out. Throws where none is under way. */
  noteAcknowledged(): void {
    if (this.#sent.length === 0) throw new Error('the supervisor acknowledges more messages than it got')
    this.#sent.shift()?.resolve()
  }

  /** The connection is lost. */
  noteLost(): void {
    for (const lost of [...this.#sent, this.#next]) {
      if (lost === undefined) continue
      for (const ending of lost.endings) this.#undelivered.push(ending)
      lost.resolve()
    }
    this.#sent = []
    this.#next = undefined
  }

  /** Resolves once everything that was added is carried out, or the connection is lost. */
  async whenDone(): Promise<void> {
    const all = [...this.#sent, this.#next]
    await Promise.all(all.map(item => item?.done))
  }

  /** Returns the endings that no message contains now. */
  takeUndelivered(): readonly Ending[] {
    const undelivered = this.#undelivered
    this.#undelivered = []
    return undelivered
  }
}

function toSentEndings(): SentEndings {
  let resolve = (): void => {}
  const done = new Promise<void>(resolveDone => {
    resolve = resolveDone
  })
  return { endings: [], done, resolve }
}
