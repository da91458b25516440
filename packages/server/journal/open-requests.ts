import type { RecordLine } from '../core/records/request-record.ts'
import { ShortLivedMap } from '../core/short-lived-map.ts'
import { ShortTicks } from '../core/short-ticks.ts'
import type { Journal } from './journal.ts'

const BEGIN = '{"open":'

/** Returns the journal line of a request before its provider is called: the record that counts if the process is killed. */
export function toOpenLine({ json }: RecordLine): string {
  return `${BEGIN}${json}}`
}

/** Returns the record within an open line; undefined if the line is the record of a request that ended. */
export function parseOpenLine(json: string): string | undefined {
  return json.startsWith(BEGIN) ? json.slice(BEGIN.length, -1) : undefined
}

/** An open line, and the first and last segment that it may be in. */
interface OpenLine {
  readonly line: string
  first: number
  last: number
}

/** The number of lines that are written at once. */
const LINES_AT_ONCE = 64

/** The open lines of requests that have no record in the journal, and the segments that contain them. */
export class OpenRequests {
  readonly #journal: Journal
  readonly #lines = new ShortLivedMap<OpenLine>()

  constructor(journal: Journal) {
    this.#journal = journal
  }

  get size(): number {
    return this.#lines.size
  }

  has(id: string): boolean {
    return this.#lines.get(id) !== undefined
  }

  add(id: string, line: string): void {
    const segment = this.#journal.append(line)
    this.#lines.set(id, { line, first: segment, last: segment })
  }

  remove(id: string): void {
    this.#lines.delete(id)
  }

  /** Appends the open lines of these segments again, so that the segments can be removed. Rejects if one cannot be written. */
  async moveFrom(segments: readonly number[]): Promise<void> {
    const isOld = (open: OpenLine): boolean => segments.some(segment => mayBeIn(open, segment))
    const opens = [...this.#lines.entries()].filter(([, open]) => isOld(open))
    const ticks = new ShortTicks()
    for (let at = 0; at < opens.length; at += LINES_AT_ONCE) {
      if (ticks.isOver) await ticks.next()
      // A request may have ended meanwhile.
      const group = opens.slice(at, at + LINES_AT_ONCE).filter(([id, open]) => this.#lines.get(id) === open)
      // The write may begin a further segment.
      const first = this.#journal.current()
      const last = this.#journal.append(...group.map(([, { line }]) => line))
      for (const [, open] of group) {
        open.first = first
        open.last = last
      }
    }
  }

  /** Returns those of the segments that have no open line. */
  listWithout(segments: readonly number[]): number[] {
    const opens = [...this.#lines.entries()]
    return segments.filter(segment => !opens.some(([, open]) => mayBeIn(open, segment)))
  }
}

function mayBeIn({ first, last }: OpenLine, segment: number): boolean {
  return first <= segment && segment <= last
}
