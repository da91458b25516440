/**
 * The length of the whole events at the start of a text that come before the first event with a mark. Events end with a
 * blank line. 0 if the first one has a mark or is not complete.
 */
export function measureUnmarked(text: string, marks: RegExp): number {
  const mark = text.search(marks)
  const limit = mark === -1 ? text.length : mark
  // A stream has one kind of line end. The search for the other one would read the whole text.
  return endOfLast(text, text.includes('\n\r\n') ? '\n\r\n' : '\n\n', limit)
}

/** The end of the last such separator that ends at the limit or before; 0: there is none. */
function endOfLast(text: string, separator: string, limit: number): number {
  if (limit < separator.length) return 0
  const at = text.lastIndexOf(separator, limit - separator.length)
  return at === -1 ? 0 : at + separator.length
}
