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

/** An open line, and a segment that is not after the one that it is in. */
interface OpenLine {
  readonly line: string
  segment: number
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
    this.#lines.set(id, { line, segment: this.#journal.append(line) })
  }

  remove(id: string): void {
    this.#lines.delete(id)
  }

  /** Appends the open lines of these segments again, so that the segments can be removed. Rejects if one cannot be written. */
  async moveFrom(segments: readonly number[]): Promise<void> {
    const old = new Set(segments)
    const opens = [...this.#lines.entries()].filter(([, { segment }]) => old.has(segment))
    const ticks = new ShortTicks()
    for (let at = 0; at < opens.length; at += LINES_AT_ONCE) {
      if (ticks.isOver) await ticks.next()
      // A request may have ended meanwhile.
      const group = opens.slice(at, at + LINES_AT_ONCE).filter(([id, open]) => this.#lines.get(id) === open)
      // The write may begin a further segment.
      const segment = this.#journal.current()
      this.#journal.append(...group.map(([, { line }]) => line))
      for (const [, open] of group) open.segment = segment
    }
  }

  /** Returns those of the segments that have no open line. */
  listWithout(segments: readonly number[]): number[] {
    const used = new Set<number>()
    for (const [, { segment }] of this.#lines.entries()) used.add(segment)
    return segments.filter(segment => !used.has(segment))
  }
}
