import type { Meter } from '../../core/limits/meter.ts'
import type { MeteredUsage } from '../../core/limits/metered-usage.ts'
import type { Amounts, ReserveRequest } from '../ledger.ts'
import { Batch, type Operation, type Reply } from './batch.ts'
import type { LedgerCommands } from './commands.ts'
import type { ScriptClock } from './script-clock.ts'

export interface BatcherOptions {
  readonly commands: Pick<LedgerCommands, 'runBatch'>
  /** Id of this gateway process. */
  readonly owner: string
  readonly clock: Pick<ScriptClock, 'time'>
}

/** A batch of this size takes the server about 0.5 ms, during which it serves no other client. */
const MAX_OPERATIONS = 16

/**
 * Sends the operations of concurrent requests in shared calls, because a call costs this process as much CPU as many
 * operations. With no call under way, a batch is sent at the end of the event-loop tick of its first operation, without a
 * timer. During a call, operations are collected and sent when that call is answered, or at once when they fill a batch.
 *
 * Each operation resolves with its reply (see run-batch.lua) or rejects with its call. A rejected operation may still be
 * executed by the server. The parameter `key` is the key of the organization's reservations.
 */
export class Batcher {
  readonly #options: BatcherOptions
  #next = new Batch()
  #callsUnderWay = 0
  #isScheduled = false

  constructor(options: BatcherOptions) {
    this.#options = options
  }

  reserve(key: string, request: ReserveRequest): Promise<Reply> {
    const { id, leaseMs, amounts, arrivedAt, subject, meters } = request
    const { tokens, nanoUsd } = amounts
    const position = this.#next.positionOf(subject)
    const positions = this.#next.positionsOf(meters)
    return this.#add(key, ['reserve', id, leaseMs, tokens, nanoUsd, arrivedAt, position, positions])
  }

  /** `meters`: those that the reservation was made with, in the same order. */
  extend(
    key: string,
    id: string,
    amounts: Amounts,
    leaseMs: number,
    meters: readonly Meter[],
  ): Promise<Reply> {
    const positions = this.#next.positionsOf(meters)
    return this.#add(key, ['extend', id, leaseMs, amounts.tokens, amounts.nanoUsd, positions])
  }

  settle(key: string, id: string, usage: MeteredUsage): Promise<Reply> {
    const { requests, tokens, nanoUsd, isSandbox } = usage
    return this.#add(key, ['settle', id, requests, tokens, nanoUsd, isSandbox ? 1 : 0])
  }

  release(key: string, id: string): Promise<Reply> {
    return this.#add(key, ['release', id])
  }

  /** Undoes a reserve that was rejected, executed or not. */
  withdraw(key: string, id: string): Promise<Reply> {
    return this.#add(key, ['withdraw', id])
  }

  #add(key: string, operation: Operation): Promise<Reply> {
    const reply = this.#next.add(key, operation)
    if (this.#next.size >= MAX_OPERATIONS) this.#send()
    else if (this.#callsUnderWay === 0) this.#schedule()
    return reply
  }

  /** Sends the batch once everything that runs in this tick has added its operations. */
  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    process.nextTick(() => {
      this.#isScheduled = false
      if (this.#next.size > 0 && this.#callsUnderWay === 0) this.#send()
    })
  }

  #send(): void {
    const batch = this.#next
    this.#next = new Batch()
    this.#callsUnderWay++
    this.#call(batch).then(
      packed => {
        this.#callsUnderWay--
        try {
          batch.resolve(packed)
        } catch (error) {
          // A reply that cannot be read: operations without a result must not wait forever.
          batch.reject(error as Error)
        }
        this.#schedule()
      },
      (error: Error) => {
        this.#callsUnderWay--
        batch.reject(error)
        // The waiting operations fail too: their callers must not wait for a second timeout.
        this.#next.reject(error)
        this.#next = new Batch()
      },
    )
  }

  /** Rejects also where the call cannot be made. */
  async #call(batch: Batch): Promise<Buffer> {
    const { commands, owner, clock } = this.#options
    return await commands.runBatch(batch.keys, clock.time(), batch.toJson(owner))
  }
}
