const SPACE = 0x20
const QUOTE = 0x22
const BACKSLASH = 0x5c
/** What JSON.stringify makes of a control character, besides the character. */
const ESCAPE = 5
/** Half a surrogate pair takes as long to write as so many characters. */
const HALF = 64

/** Returns the length of a text in JSON, where halves of surrogate pairs count as what they cost. */
export function measureWritten(text: string): number {
  let size = text.length
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < SPACE) size += ESCAPE
    else if (code === QUOTE || code === BACKSLASH) size++
  }
  if (text.isWellFormed()) return size
  for (let at = 0; at < text.length; at++) if ((text.charCodeAt(at) & 0xf800) === 0xd800) size += HALF
  return size
}
