import type { Verdict } from '../../ledger/ledger.ts'
import type { Admission } from './admission.ts'
import type { HeldOutput } from './held-output.ts'

/** The hold grows when this part of it was delivered, by this factor. */
const GROW_AT = 3 / 4
const GROW_BY = 2

/** Keeps a stream within what is held for it: extends the hold as it goes, and says when no more is to be had. */
export class SpendGuard {
  readonly #admission: Admission
  readonly #held: HeldOutput
  /** Output tokens that are held. */
  #output: number
  #isAsking = false
  #isRefused = false

  readonly #onGrown: (held: HeldOutput) => void
  readonly #onError: (error: unknown) => void

  /** `onGrown` is told what is held then, before more is delivered. `onError` is given what a later answer threw. */
  constructor(
    admission: Admission,
    held: HeldOutput,
    onGrown: (held: HeldOutput) => void,
    onError: (error: unknown) => void,
  ) {
    this.#onGrown = onGrown
    this.#onError = onError
    this.#admission = admission
    this.#held = held
    this.#output = held.outputTokens
  }

  /** May so many output tokens be delivered? */
  mayDeliver(tokens: number): boolean {
    while (tokens >= this.#output * GROW_AT && this.#grow()) {}
    return tokens <= this.#output || this.#isAsking || this.#output >= this.#held.mostOutputTokens
  }

  /** True where more is held now. */
  #grow(): boolean {
    if (this.#isAsking || this.#isRefused || this.#output >= this.#held.mostOutputTokens) return false
    const output = Math.min(this.#output * GROW_BY, this.#held.mostOutputTokens)
    const verdict = this.#admission.extend(this.#held.toAmounts(output))
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
    this.#onGrown({ ...this.#held, outputTokens: output })
  }
}
