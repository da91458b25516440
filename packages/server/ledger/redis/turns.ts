import type { Meter } from '../../core/meter.ts'
import type { AdmitRequest, Amounts, Used } from '../ledger.ts'
import type { LedgerCommands } from './commands.ts'
import { type Operation, type Reply, Turn } from './turn.ts'

export interface TurnsOptions {
  readonly commands: Pick<LedgerCommands, 'turn'>
  /** The process that asks. */
  readonly owner: string
  /** As scripts take it. */
  readonly time: () => string | number
}

/** So many operations are one call at most: some 0.5 ms of the server's time, in which it serves nobody else. */
const MOST = 16

/**
 * Asks the server for what requests want of it, all that came together in one call: a call costs this process as much as
 * many operations. The first leaves at the end of the turn of the event loop in which it was asked, without a timer; what
 * is asked while a call is under way leaves when that is answered, or when it fills a call of its own.
 *
 * Each gives its reply (see turn-script.ts) or rejects with its call. Then it may still be done.
 */
export class Turns {
  readonly #options: TurnsOptions
  #next = new Turn()
  #underWay = 0
  #isLeaving = false

  constructor(options: TurnsOptions) {
    this.#options = options
  }

  /** `holds`: the key of its organization's holds, here and below. */
  admit(holds: string, { id, leaseMs, hold, at, subject, meters }: AdmitRequest): Promise<Reply> {
    const places = [this.#next.placeOf(subject), this.#next.placesOf(meters)] as const
    return this.#ask(holds, ['a', id, leaseMs, hold.tokens, hold.nanoUsd, at, ...places])
  }

  extend(
    holds: string,
    id: string,
    amounts: Amounts,
    leaseMs: number,
    meters: readonly Meter[],
  ): Promise<Reply> {
    const { tokens, nanoUsd } = amounts
    return this.#ask(holds, ['e', id, leaseMs, tokens, nanoUsd, this.#next.placesOf(meters)])
  }

  settle(holds: string, id: string, { requests, tokens, nanoUsd, isSandbox }: Used): Promise<Reply> {
    return this.#ask(holds, ['s', id, requests, tokens, nanoUsd, isSandbox ? 1 : 0])
  }

  release(holds: string, id: string): Promise<Reply> {
    return this.#ask(holds, ['r', id])
  }

  #ask(holds: string, operation: Operation): Promise<Reply> {
    const reply = this.#next.add(holds, operation)
    if (this.#next.size >= MOST) this.#send()
    else if (this.#underWay === 0) this.#leave()
    return reply
  }

  /** When all that this turn of the event loop leads to has been asked. */
  #leave(): void {
    if (this.#isLeaving) return
    this.#isLeaving = true
    process.nextTick(() => {
      this.#isLeaving = false
      if (this.#next.size > 0 && this.#underWay === 0) this.#send()
    })
  }

  #send(): void {
    const turn = this.#next
    this.#next = new Turn()
    this.#underWay++
    this.#call(turn).then(
      reply => {
        this.#underWay--
        try {
          turn.answer(reply)
        } catch (error) {
          // A reply that cannot be read: whoever has none yet must not wait for ever.
          turn.fail(error as Error)
        }
        this.#leave()
      },
      (error: Error) => {
        this.#underWay--
        turn.fail(error)
        // Nobody waits for a second call to fail.
        this.#next.fail(error)
        this.#next = new Turn()
      },
    )
  }

  /** Rejects also where the call cannot be made. */
  async #call(turn: Turn): Promise<Buffer> {
    const { commands, owner, time } = this.#options
    return await commands.turn(turn.keys, time(), turn.toJson(owner))
  }
}
