import type { RecordLine } from '../core/records/request-record.ts'
import { ShortLivedMap } from '../core/short-lived-map.ts'
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

/** The open lines of running requests, and the segments that contain them. */
export class OpenRequests {
  readonly #journal: Journal
  readonly #lines = new ShortLivedMap<{ readonly line: string; segment: number }>()

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

  /** Appends the open lines of these segments again, so that the segments can be removed. */
  moveFrom(segments: readonly number[]): void {
    for (const [, open] of this.#lines.entries()) {
      if (segments.includes(open.segment)) open.segment = this.#journal.append(open.line)
    }
  }
}
