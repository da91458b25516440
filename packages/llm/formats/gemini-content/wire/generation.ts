/** Returns true for a Gemini before the third generation. Its calls have no ids and no signatures that must come back. */
export function isBeforeGemini3(model: string): boolean {
  return /^gemini-[12](?:[.-]|$)/.test(model)
}
