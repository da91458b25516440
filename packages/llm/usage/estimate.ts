import { OTHER, WEIGHTS } from './character-weights.ts'

/**
 * A guess at tokens, for requests whose usage never came: four bytes of UTF-8 a token, rounded up. English prose and
 * JSON have about that many; other alphabets have fewer tokens a byte, so the guess is rather high than low.
 */
export function estimateTokens(input: string | number): number {
  const bytes = typeof input === 'number' ? input : Buffer.byteLength(input)
  return Math.ceil(bytes / 4)
}

/** A longer text has more tokens than what its readers take: prompts of images and speech. */
const MAX_READ = 1_048_576

/**
 * Estimates tokens like estimateTokens, but rather too many than too few whatever the text is: code, numbers, base64 and scripts other than
 * Latin have fewer bytes a token than prose. Counts the kinds of all characters, at two to four nanoseconds each. Texts of more than a
 * million characters count as if all were of the kind with the most tokens. This bounds one text, and no sum of many: long chats are estimated
 * by samples (long-texts.ts), what is embedded or ranked is counted in steps (count-texts.ts).
 */
export function estimateMaxTokens(text: string): number {
  if (text.length > MAX_READ) return Math.ceil((text.length * OTHER) / 16)
  let sixteenths = 0
  for (let at = 0; at < text.length; at++) sixteenths += WEIGHTS[text.charCodeAt(at)] as number
  return Math.ceil(sixteenths / 16)
}
