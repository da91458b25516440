/** Counts answered requests by the first digit of their status. */
export class RequestCounts {
  readonly #classes = [0, 0, 0, 0, 0, 0]

  add(status: number): void {
    const digit = Math.floor(status / 100)
    if (digit >= 1 && digit <= 5) (this.#classes[digit] as number)++
  }

  /** Returns the count of a status class; 2 stands for 200 to 299. */
  of(digit: 1 | 2 | 3 | 4 | 5): number {
    return this.#classes[digit] as number
  }
}
