import { countMarks, PIECE_MARKS } from './end-of-piece.ts'

/** What opening a stream takes beside its events, in marks. */
const OPENING_MARKS = 32
/** What streams may bring that open in one tick. Events that carry nothing take 3 to 7 us each. */
const MAX_MARKS = 4 * PIECE_MARKS

/**
 * Counts what the streams that open in one tick of the event loop brought. They keep it, and it is read once the tick's turns are over, so no slice
 * measures the time of that: 24 streams took 120 ms of a tick, and 200 that open by a few KiB of calls each 18 to 34. One stream a tick would be too few. Short
 * answers often come in a single read each, and a stream of 50 events then cost twice as much CPU time. Eight of those may open in one tick.
 */
export class OpenedStreams {
  #marks = 0

  /** True if no other stream should open in this tick. */
  get isFull(): boolean {
    return this.#marks >= MAX_MARKS
  }

  /** Counts the piece that opened a stream. */
  note(piece: Buffer): void {
    // Turns are given in this phase of the event loop too, and the next ones come after this.
    if (this.#marks === 0) setImmediate(clear, this)
    this.#marks += OPENING_MARKS + countMarks(piece)
  }

  clear(): void {
    this.#marks = 0
  }
}

function clear(opened: OpenedStreams): void {
  opened.clear()
}

/** The event loop of this process. */
export const openedStreams = new OpenedStreams()
