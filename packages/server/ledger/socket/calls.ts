import type { Meter } from '../../core/limits/meter.ts'
import type { Amounts, MeterStatus, ReserveRequest, Verdict } from '../ledger.ts'
import type { LocalReservation } from './local-reservation.ts'

/** A call that waits for its result. */
export type Call =
  | {
      readonly kind: 'reserve'
      readonly request: ReserveRequest
      readonly resolve: (verdict: Verdict) => void
      readonly reject: (error: Error) => void
    }
  | {
      readonly kind: 'extend'
      readonly reservation: LocalReservation
      /** What it asks for. */
      readonly amounts: Amounts
      readonly resolve: (verdict: Verdict) => void
      readonly reject: (error: Error) => void
    }
  | {
      readonly kind: 'read'
      readonly meters: readonly Meter[]
      readonly resolve: (statuses: readonly MeterStatus[] | undefined) => void
      readonly reject: (error: Error) => void
    }

/** The calls of one connection that wait for their results, by numbers that are used again. */
export class Calls {
  #calls: (Call | undefined)[] = []
  #free: number[] = []

  /** Returns the number of the call. */
  add(call: Call): number {
    const number = this.#free.pop() ?? this.#calls.length
    this.#calls[number] = call
    return number
  }

  /** Throws where no call has the number. */
  take(number: number): Call {
    const call = this.#calls[number]
    if (call === undefined) throw new Error(`no call has the number ${number}`)
    this.#calls[number] = undefined
    this.#free.push(number)
    return call
  }

  takeAll(): Call[] {
    const calls = this.#calls.filter(call => call !== undefined)
    this.#calls = []
    this.#free = []
    return calls
  }
}
