/** How many pieces are joined at once. */
const PIECES = 128

/**
 * A text that arrives in pieces and is kept. Joined by `+` it would take some 60 bytes a piece besides its characters, since V8 keeps
 * the pieces of a string until it is read.
 */
export class KeptText {
  length = 0
  private joined = ''
  private pieces: string[] = []

  constructor(first = '') {
    this.add(first)
  }

  add(piece: string): void {
    if (piece === '') return
    this.length += piece.length
    if (this.pieces.push(piece) === PIECES) this.join()
  }

  toString(): string {
    if (this.pieces.length > 0) this.join()
    return this.joined
  }

  private join(): void {
    this.joined += this.pieces.join('')
    this.pieces = []
  }
}
