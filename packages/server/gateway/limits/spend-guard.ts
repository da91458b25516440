import type { Verdict } from '../../ledger/ledger.ts'
import type { Reservation } from './reservations.ts'
import type { ReservedOutput } from './reserved-output.ts'

/** The reservation is extended once this share of it is delivered, by this factor. */
const EXTEND_AT = 3 / 4
const EXTEND_BY = 2

/**
 * Keeps a stream within its reservation. Extends the reservation as the stream goes on, and ends the stream when the
 * limits allow no more.
 */
export class SpendGuard {
  readonly #reservation: Reservation
  readonly #reserved: ReservedOutput
  /** Output tokens reserved now. */
  #output: number
  #isExtending = false
  #isRefused = false

  readonly #onExtended: (reserved: ReservedOutput) => void
  readonly #onError: (error: unknown) => void

  /**
   * `onExtended` is called with the new reservation before more output is delivered. `onError` is called with
   * exceptions of later extensions.
   */
  constructor(
    reservation: Reservation,
    reserved: ReservedOutput,
    onExtended: (reserved: ReservedOutput) => void,
    onError: (error: unknown) => void,
  ) {
    this.#onExtended = onExtended
    this.#onError = onError
    this.#reservation = reservation
    this.#reserved = reserved
    this.#output = reserved.outputTokens
  }

  /** Returns true if this many output tokens in total may be delivered. */
  mayDeliver(tokens: number): boolean {
    while (tokens >= this.#output * EXTEND_AT && this.#extend()) {}
    return tokens <= this.#output || this.#isExtending || this.#output >= this.#reserved.maxOutputTokens
  }

  /** Returns true if the reservation was extended at once. */
  #extend(): boolean {
    if (this.#isExtending || this.#isRefused || this.#output >= this.#reserved.maxOutputTokens) return false
    const output = Math.min(this.#output * EXTEND_BY, this.#reserved.maxOutputTokens)
    const verdict = this.#reservation.extend(this.#reserved.toAmounts(output))
    if (!(verdict instanceof Promise)) {
      this.#note(verdict, output)
      return verdict.isAdmitted
    }
    this.#isExtending = true
    verdict
      .then(result => {
        this.#isExtending = false
        this.#note(result, output)
      })
      .catch(this.#onError)
    return false
  }

  #note(verdict: Verdict, output: number): void {
    if (!verdict.isAdmitted) {
      this.#isRefused = true
      return
    }
    this.#output = output
    this.#onExtended({ ...this.#reserved, outputTokens: output })
  }
}
