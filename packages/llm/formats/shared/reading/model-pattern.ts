/** True if a model's name matches one of the patterns, in which `*` stands for any text. */
export function matchesAny(name: string, patterns: readonly string[]): boolean {
  return patterns.some(pattern => matches(name, pattern))
}

/** Piece by piece from the left, so that no pattern takes more than linear time. */
function matches(name: string, pattern: string): boolean {
  const pieces = pattern.split('*')
  const first = pieces[0] as string
  const last = pieces[pieces.length - 1] as string
  if (pieces.length === 1) return name === pattern
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length)
    return false
  let at = first.length
  for (const piece of pieces.slice(1, -1)) {
    const found = name.indexOf(piece, at)
    if (found === -1) return false
    at = found + piece.length
  }
  return at <= name.length - last.length
}
