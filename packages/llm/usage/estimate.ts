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

const FIRST_OTHER = 0x900

/** Of every UTF-16 code unit: a look-up takes half the time of comparing. */
const WEIGHTS = Uint8Array.from({ length: 65_536 }, (_, code) => {
  if (code >= 128) return code < FIRST_OTHER ? ALPHABET : OTHER
  const char = String.fromCharCode(code)
  if (/[a-z\s]/.test(char)) return LETTER
  if (/[A-Z]/.test(char)) return CAPITAL
  return /\d/.test(char) ? DIGIT : SIGN
})

/**
 * Estimates tokens like estimateTokens, but rather too many than too few whatever the text is: code, numbers, base64 and scripts other than
 * Latin have fewer bytes a token than prose. By the kinds of all its characters, at about two nanoseconds each: whoever knew which ones a
 * sample takes could write cheap ones there.
 */
export function estimateMaxTokens(text: string): number {
  let sixteenths = 0
  for (let at = 0; at < text.length; at++) sixteenths += WEIGHTS[text.charCodeAt(at)] as number
  return Math.max(estimateTokens(text), Math.ceil(sixteenths / 16))
}
