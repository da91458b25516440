/** Bytes below are marks: line ends, and the zeros of AWS's frames. Each event of every framing has at least one. */
const FIRST_OTHER = 14

/** Fewer marks than this are few events. */
export const LIGHT_MARKS = 32
/** The marks of a piece of a chunk: 20 us of each make 5 ms. */
export const PIECE_MARKS = 256

/** Returns where a piece of a chunk ends that begins at `start` and has `maxMarks` marks at most. */
export function endOfPiece(chunk: Buffer, start: number, maxMarks: number): number {
  let marks = 0
  for (let at = start; at < chunk.length; at++) {
    if ((chunk[at] as number) < FIRST_OTHER && ++marks === maxMarks) return at + 1
  }
  return chunk.length
}

/** Returns how many marks a piece has. */
export function countMarks(piece: Buffer): number {
  let marks = 0
  for (const byte of piece) if (byte < FIRST_OTHER) marks++
  return marks
}
