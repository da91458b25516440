const BACKSLASH = 0x5c
const UNDERSCORE = 0x5f
const PROTOTYPE_KEY = '__proto__'

/** The most short keys of an object that are compared one by one. For more, a set keeps the cost linear. */
const FEW_KEYS = 16
const SHORT_KEY_BYTES = 64

/** The keys of every object that is open, innermost last: where each lies between its quotes. Finds one given twice. */
export class OpenKeys {
  /** The number of keys of all open objects. */
  count = 0
  /** Any key so far was written with an escape. */
  hasEscaped = false
  private readonly bytes: Buffer
  private readonly starts: number[] = []
  private readonly ends: number[] = []
  /** Decoded keys of an open object that has many, a long or an escaped one, by its depth. */
  private sets: Map<number, Set<string>> | undefined

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  /** True where the object at `depth`, whose first key is the one at `first`, has that key already. */
  add(depth: number, first: number, start: number, end: number): boolean {
    const { starts, ends, count } = this
    const length = end - start
    const isEscaped = this.isEscaped(start, end)
    if (isEscaped) this.hasEscaped = true
    const isPlain = count - first < FEW_KEYS && length <= SHORT_KEY_BYTES && !isEscaped
    const isTwice =
      isPlain && this.sets?.has(depth) !== true
        ? this.isAmong(first, start, length)
        : this.addToSet(depth, first, start, end)
    starts[count] = start
    ends[count] = end
    this.count++
    return isTwice
  }

  /** The object at `depth` is closed. */
  close(depth: number, first: number): void {
    this.count = first
    if (this.sets !== undefined) this.sets.delete(depth)
  }

  /** One of an open object. Throws where it is not JSON. */
  parseAt(index: number): string {
    return JSON.parse(`"${this.bytes.toString('utf8', this.starts[index], this.ends[index])}"`) as string
  }

  decode(start: number, end: number): string {
    const raw = this.bytes.toString('utf8', start, end)
    if (!raw.includes('\\')) return raw
    try {
      return JSON.parse(`"${raw}"`) as string
    } catch {
      // No JSON: JSON.parse refuses the whole text for it.
      return raw
    }
  }

  /** True for `__proto__`, however it is written. */
  isPrototypeKey(start: number, end: number): boolean {
    const { bytes } = this
    const code = bytes[start]
    if (code === UNDERSCORE && end - start === PROTOTYPE_KEY.length) {
      return bytes.toString('latin1', start, end) === PROTOTYPE_KEY
    }
    const mayBeEscaped = code === UNDERSCORE || code === BACKSLASH
    return mayBeEscaped && this.isEscaped(start, end) && this.decode(start, end) === PROTOTYPE_KEY
  }

  private isAmong(first: number, start: number, length: number): boolean {
    const { bytes, starts, ends } = this
    for (let index = first; index < this.count; index++) {
      const other = starts[index] as number
      if ((ends[index] as number) - other !== length) continue
      let same = 0
      while (same < length && bytes[other + same] === bytes[start + same]) same++
      if (same === length) return true
    }
    return false
  }

  private addToSet(depth: number, first: number, start: number, end: number): boolean {
    const { starts, ends } = this
    this.sets ??= new Map()
    let set = this.sets.get(depth)
    if (set === undefined) {
      set = new Set()
      for (let index = first; index < this.count; index++)
        set.add(this.decode(starts[index] as number, ends[index] as number))
      this.sets.set(depth, set)
    }
    const name = this.decode(start, end)
    if (set.has(name)) return true
    set.add(name)
    return false
  }

  private isEscaped(start: number, end: number): boolean {
    const { bytes } = this
    for (let at = start; at < end; at++) if (bytes[at] === BACKSLASH) return true
    return false
  }
}
