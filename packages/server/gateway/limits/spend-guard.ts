import type { Verdict } from '../../ledger/ledger.ts'
import type { Reservation } from './reservations.ts'
import type { ReservedOutput } from './reserved-output.ts'

/** The hold grows when this part of it was delivered, by this factor. */
const GROW_AT = 3 / 4
const GROW_BY = 2

/** Keeps a stream within what is held for it: extends the hold as it goes, and says when no more is to be had. */
export class SpendGuard {
  readonly #reservation: Reservation
  readonly #reserved: ReservedOutput
  /** Output tokens that are held. */
  #output: number
  #isAsking = false
  #isRefused = false

  readonly #onGrown: (reserved: ReservedOutput) => void
  readonly #onError: (error: unknown) => void

  /** `onGrown` is told what is held then, before more is delivered. `onError` is given what a later answer threw. */
  constructor(
    reservation: Reservation,
    reserved: ReservedOutput,
    onGrown: (reserved: ReservedOutput) => void,
    onError: (error: unknown) => void,
  ) {
    this.#onGrown = onGrown
    this.#onError = onError
    this.#reservation = reservation
    this.#reserved = reserved
    this.#output = reserved.outputTokens
  }

  /** May so many output tokens be delivered? */
  mayDeliver(tokens: number): boolean {
    while (tokens >= this.#output * GROW_AT && this.#grow()) {}
    return tokens <= this.#output || this.#isAsking || this.#output >= this.#reserved.maxOutputTokens
  }

  /** True where more is held now. */
  #grow(): boolean {
    if (this.#isAsking || this.#isRefused || this.#output >= this.#reserved.maxOutputTokens) return false
    const output = Math.min(this.#output * GROW_BY, this.#reserved.maxOutputTokens)
    const verdict = this.#reservation.extend(this.#reserved.toAmounts(output))
    if (!(verdict instanceof Promise)) {
      this.#note(verdict, output)
      return verdict.isAdmitted
    }
    this.#isAsking = true
    verdict
      .then(each => {
        this.#isAsking = false
        this.#note(each, output)
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
    this.#onGrown({ ...this.#reserved, outputTokens: output })
  }
}
