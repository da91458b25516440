import type { Json } from '../json/json-value.ts'
import {
  addWeights,
  DIGIT,
  MAX_PACKED_CHARS,
  PACKED_JSON_WEIGHTS,
  PACKED_WEIGHTS,
  packWeights,
  SIGN,
  toBytes,
  toSixteenths,
  type WeightSums,
} from './character-weights.ts'

/** Blocks of a sample. Short ones, since the characters of a place resemble each other: many places tell more than long ones. */
const BLOCKS = 16_384
const BLOCK_CHARS = MAX_PACKED_CHARS
/** Texts that have fewer characters together are read whole. */
const MAX_READ = BLOCKS * BLOCK_CHARS
/** Standard errors of a sample that are added to be on the high side: an estimate is below one time in thirty thousand. */
const ERRORS = 4
/** Fractions whose characters are counted. Writing one takes a quarter of a microsecond, and a body may have a million. */
const MAX_WRITTEN = 16_384
/** The most characters of a fraction: `-1.2345678901234567e-300`. Those beyond MAX_WRITTEN count as so many. */
const MOST_DIGITS = 24

/** A source of random bytes that callers cannot foresee. */
export interface RandomBytes {
  bytes(length: number): Buffer
}

/** What texts weigh together. */
export interface TextWeight {
  /** Of UTF-8. */
  readonly bytes: number
  /** Sixteenths of a token, as estimateMaxTokens counts them. */
  readonly sixteenths: number
  /** No fewer than all characters have, where `sixteenths` are of a sample. */
  readonly mostSixteenths: number
}

interface Sums extends WeightSums {
  error: number
}

/**
 * Texts that may be too long to be read at once. They are weighed whole up to a million characters together, and by a sample above that:
 * a block of characters at a random place of each stretch, across all texts as if they were one. Every character is as likely to be read as
 * any other: a caller who knew the places could write text of few tokens there.
 */
export class LongTexts {
  /** Texts as they are, and texts that are written as JSON. */
  readonly #plain: string[] = []
  readonly #inJson: string[] = []
  #chars = 0
  #signs = 0
  #digits = 0
  #fractions = 0

  /** How many plain texts there are. */
  get count(): number {
    return this.#plain.length
  }

  add(text: string): void {
    this.#plain.push(text)
    this.#chars += text.length
  }

  /** Adds the text that JSON.stringify returns for a value, without making it. */
  addJson(value: Json | undefined): void {
    if (typeof value === 'string') this.#addInJson(value)
    else if (typeof value === 'number') this.#addNumber(value)
    else if (typeof value !== 'object' || value === null) this.#signs += value === false ? 5 : 4
    else if (Array.isArray(value)) {
      this.#signs += 1 + Math.max(1, value.length)
      for (const entry of value) {
        if (typeof entry === 'number') this.#addNumber(entry)
        else this.addJson(entry)
      }
    } else {
      let fields = 0
      for (const name in value) {
        const field = value[name]
        if (field === undefined) continue
        fields++
        this.#addInJson(name)
        this.addJson(field)
      }
      // Two brackets, the colons, and the commas between the fields.
      this.#signs += fields === 0 ? 2 : 1 + 2 * fields
    }
  }

  /** Reads at most a million characters: some milliseconds. */
  weigh(random: RandomBytes): TextWeight {
    const { bytes, sixteenths, error } = this.#chars <= MAX_READ ? this.#readAll() : this.#readSample(random)
    const around = this.#signs * SIGN + this.#digits * DIGIT
    return {
      bytes: bytes + this.#signs + this.#digits,
      sixteenths: sixteenths + around,
      mostSixteenths: sixteenths + around + ERRORS * error,
    }
  }

  #addInJson(text: string): void {
    this.#inJson.push(text)
    this.#chars += text.length
    this.#signs += 2
  }

  #readAll(): Sums {
    const sums: Sums = { bytes: 0, sixteenths: 0, error: 0 }
    for (const text of this.#plain) addWeights(text, 0, text.length, PACKED_WEIGHTS, sums)
    for (const text of this.#inJson) addWeights(text, 0, text.length, PACKED_JSON_WEIGHTS, sums)
    return sums
  }

  #readSample(random: RandomBytes): Sums {
    const texts = [...this.#plain, ...this.#inJson]
    const shares = random.bytes(4 * BLOCKS)
    const stretch = this.#chars / BLOCKS
    let [bytes, sixteenths, squares] = [0, 0, 0]
    // The text in which a block begins, and where the text begins among all characters.
    let index = 0
    let start = 0
    for (let block = 0; block < BLOCKS; block++) {
      const at = Math.floor((block + shares.readUInt32LE(4 * block) / 2 ** 32) * stretch)
      for (let text = texts[index] as string; at >= start + text.length; text = texts[index] as string) {
        start += text.length
        index++
      }
      const packed = this.#readBlock(texts, index, at - start)
      const weight = toSixteenths(packed)
      bytes += toBytes(packed)
      sixteenths += weight
      squares += weight * weight
    }
    const scale = this.#chars / MAX_READ
    const variance = Math.max(0, squares - sixteenths ** 2 / BLOCKS)
    return { bytes: bytes * scale, sixteenths: sixteenths * scale, error: Math.sqrt(variance) * scale }
  }

  #addNumber(value: number): void {
    if (Number.isInteger(value)) this.#digits += countDigits(value)
    else this.#digits += this.#fractions++ < MAX_WRITTEN ? String(value).length : MOST_DIGITS
  }

  /** Returns the packed weight of a block. The last one goes on with the first text. */
  #readBlock(texts: readonly string[], first: number, start: number): number {
    let packed = 0
    let index = first
    let at = start
    for (let left = BLOCK_CHARS; left > 0; at = 0) {
      const text = texts[index] as string
      const end = Math.min(text.length, at + left)
      packed += packWeights(text, at, end, index < this.#plain.length ? PACKED_WEIGHTS : PACKED_JSON_WEIGHTS)
      left -= end - at
      index = index + 1 === texts.length ? 0 : index + 1
    }
    return packed
  }
}

function countDigits(value: number): number {
  const size = Math.abs(value)
  const digits = size < 10 ? 1 : Math.floor(Math.log10(size)) + 1
  return value < 0 ? digits + 1 : digits
}
