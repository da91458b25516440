/**
 * A guess at tokens, for requests whose usage never came: four bytes of UTF-8 a token, rounded up. English prose and
 * JSON have about that many; other alphabets have fewer tokens a byte, so the guess is rather high than low.
 */
export function estimateTokens(input: string | number): number {
  const bytes = typeof input === 'number' ? input : Buffer.byteLength(input)
  return Math.ceil(bytes / 4)
}

/** Sixteenths of a token that a character of each kind takes at most, of the tokenizers that are in use. */
const LETTER = 4
const CAPITAL = 7
const DIGIT = 9
const SIGN = 8
/** Latin with accents, Greek, Cyrillic, Hebrew, Arabic. */
const ALPHABET = 10
/** Chinese, Japanese, Korean, the scripts of India and its east, halves of emoji. */
const OTHER = 20

const ASCII = Uint8Array.from({ length: 128 }, (_, code) => {
  const char = String.fromCharCode(code)
  if (/[a-z\s]/.test(char)) return LETTER
  if (/[A-Z]/.test(char)) return CAPITAL
  return /\d/.test(char) ? DIGIT : SIGN
})
const FIRST_OTHER = 0x900
/** The number of characters of a longer text that are examined, evenly spread. */
const SAMPLES = 512

/**
 * Estimates tokens like estimateTokens, but rather too many than too few whatever the text is: code, numbers, base64 and scripts other than
 * Latin have fewer bytes a token than prose. By the kinds of its characters, of which a sample is taken from a long text.
 */
export function estimateMaxTokens(text: string): number {
  const { length } = text
  const step = Math.max(1, Math.ceil(length / SAMPLES))
  let sixteenths = 0
  let seen = 0
  for (let at = 0; at < length; at += step) {
    const code = text.charCodeAt(at)
    sixteenths += code < 128 ? (ASCII[code] as number) : code < FIRST_OTHER ? ALPHABET : OTHER
    seen++
  }
  if (seen === 0) return 0
  return Math.max(estimateTokens(text), Math.ceil((sixteenths / 16) * (length / seen)))
}
