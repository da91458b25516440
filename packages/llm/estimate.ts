/**
 * A guess at tokens, for requests whose usage never came: four bytes of UTF-8 a token, rounded up. English prose and
 * JSON have about that many; other alphabets have fewer tokens a byte, so the guess is rather high than low.
 */
export function estimateTokens(input: string | number): number {
  const bytes = typeof input === 'number' ? input : Buffer.byteLength(input)
  return Math.ceil(bytes / 4)
}
