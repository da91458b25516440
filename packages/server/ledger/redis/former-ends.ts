import { throwLater } from '../../core/on-exception.ts'
import type { FormerEnd } from '../ledger.ts'

/** So many are told at once. */
const BATCH = 100

/** What killed processes left, until the server was told of it. */
export class FormerEnds {
  readonly #tellOne: (ended: FormerEnd) => Promise<boolean>
  #waiting: { readonly ended: FormerEnd[]; readonly told: () => void }[] = []
  #isTelling = false
  #isAskedAgain = false

  /** `tellOne` gives false where the server cannot be told now; `tell` is called when it can again. */
  constructor(tellOne: (ended: FormerEnd) => Promise<boolean>) {
    this.#tellOne = tellOne
  }

  /** Resolves when the server was told of all. */
  add(ended: readonly FormerEnd[]): Promise<void> {
    const told = new Promise<void>(resolve => this.#waiting.push({ ended: [...ended], told: resolve }))
    this.tell()
    return told
  }

  tell(): void {
    this.#isAskedAgain = this.#isTelling
    if (this.#isTelling) return
    this.#isTelling = true
    this.#tellAll()
      .finally(() => {
        this.#isTelling = false
        if (this.#isAskedAgain) this.tell()
      })
      .catch(error => throwLater(error, 'the ends of killed processes'))
  }

  async #tellAll(): Promise<void> {
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      while (first.ended.length > 0) {
        const batch = first.ended.slice(0, BATCH)
        const answers = await Promise.all(batch.map(this.#tellOne))
        // Who is told twice of one changes nothing.
        if (answers.includes(false)) return
        first.ended.splice(0, batch.length)
      }
      this.#waiting.shift()
      first.told()
    }
  }
}
