/** A text that was passed on in pieces. Its length and a checksum are kept in its place: answers are long, and thousands of streams open. */
export class SentText {
  private length = 0
  private checksum = 0

  add(piece: string): void {
    this.length += piece.length
    this.checksum = addTo(this.checksum, piece, piece.length)
  }

  /** Returns what a whole text has behind what was passed on; empty: nothing, or it is another text. */
  restOf(whole: string): string {
    const isLonger = whole.length > this.length
    return isLonger && addTo(0, whole, this.length) === this.checksum ? whole.slice(this.length) : ''
  }
}

/** Adds the first `length` characters of a text to a checksum. */
function addTo(checksum: number, text: string, length: number): number {
  let sum = checksum
  for (let at = 0; at < length; at++) sum = (Math.imul(sum, 31) + text.charCodeAt(at)) | 0
  return sum
}
