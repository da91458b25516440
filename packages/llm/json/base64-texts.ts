import { isUtf8 } from 'node:buffer'
import { decodeText } from './decode-text.ts'

/** The bytes of one body that are no UTF-8 and are decoded nevertheless. The decoder takes 3 to 4 ns for each. */
const MAX_BROKEN_BYTES = 4 * 1024 * 1024

/** Reads the texts of one body that stand there in base64. */
export class Base64Texts {
  #brokenBytes = 0

  /** What is not UTF-8 becomes U+FFFD, and Latin-1 once the body has 4 MiB of that: 23 MB took 60 to 110 ms of one tick. */
  decode(base64: string): string {
    const bytes = Buffer.from(base64, 'base64')
    if (isUtf8(bytes)) return decodeText(bytes)
    this.#brokenBytes += bytes.length
    return bytes.toString(this.#brokenBytes > MAX_BROKEN_BYTES ? 'latin1' : 'utf8')
  }
}
