const CUT = '…'
const LONE_SURROGATES = /\p{Surrogate}/gu

/** The longest excerpt of a name that a caller made up. */
const MAX_NAME = 64

/**
 * The text, cut to `max` UTF-16 units with an ellipsis as the last, and well-formed: no half of a surrogate pair is left
 * over, and one that came alone is U+FFFD.
 */
export function excerpt(text: string, max: number): string {
  const isCut = text.length > max
  let end = isCut ? max - CUT.length : text.length
  if (isCut && isHighSurrogate(text.charCodeAt(end - 1))) end--
  const kept = isCut ? text.slice(0, end) + CUT : text
  return kept.replace(LONE_SURROGATES, '\ufffd')
}

/** Returns as much of a caller's own field name as an error repeats. */
export function excerptName(name: string): string {
  return excerpt(name, MAX_NAME)
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}
