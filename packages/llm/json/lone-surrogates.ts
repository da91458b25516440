const BACKSLASH = 0x5c
const LETTER_U = 0x75
const ESCAPE_LENGTH = 6

/**
 * The most escapes of half surrogate pairs that a long text may have. JSON.stringify takes a third of a microsecond for each, so
 * 32 MiB of them would hold the event loop for seconds whenever the text is encoded. Texts that were cut within an emoji
 * have one.
 */
export const MAX_LONE_SURROGATES = 65_536

/** Counts the escapes of JSON that stand for half a surrogate pair, and so for no character, such as `\ud83d` without its other half. */
export function countLoneSurrogates(json: string): number {
  let count = 0
  for (let at = json.indexOf('\\'); at !== -1 && at < json.length; at++) {
    if (json.charCodeAt(at) !== BACKSLASH) continue
    const half = readHalf(json, at)
    if (half === undefined) at++
    else if (half === 'first' && readHalf(json, at + ESCAPE_LENGTH) === 'second') at += 2 * ESCAPE_LENGTH - 1
    else {
      count++
      at += ESCAPE_LENGTH - 1
    }
  }
  return count
}

/** Returns which half of a pair the escape at `at` stands for; undefined: none, or there is no escape. */
function readHalf(json: string, at: number): 'first' | 'second' | undefined {
  if (json.charCodeAt(at) !== BACKSLASH || json.charCodeAt(at + 1) !== LETTER_U) return undefined
  const high = Number.parseInt(json.slice(at + 2, at + 4), 16)
  if (!(high >= 0xd8 && high <= 0xdf)) return undefined
  return high < 0xdc ? 'first' : 'second'
}
