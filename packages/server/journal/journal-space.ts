import { isUnbilled, toBriefLine, toLineWithRecord } from '../core/records/record-line.ts'
import type { LineWithRecord, RequestRecord } from '../core/records/request-record.ts'
import type { Journal } from './journal.ts'

/** Above this part of the journal, unbilled requests leave no bodies and no metadata. */
const CUT_UNBILLED_AT = 1 / 2
/** Above this part, unbilled requests leave no record, and the others leave no bodies: the rest is for what is paid for. */
const NEARLY_FULL_AT = 3 / 4

/**
 * What records may still take of the journal while they do not reach the database. One organization can make as many as it
 * likes, at a provider of its own even billed ones, so it must not take the space of the others.
 */
export class JournalSpace {
  readonly #journal: Pick<Journal, 'bytes'>
  readonly #maxBytes: number
  /** The characters that each organization wrote since the journal is nearly full. */
  readonly #late = new Map<string, number>()

  constructor(journal: Pick<Journal, 'bytes'>, maxBytes: number) {
    this.#journal = journal
    this.#maxBytes = maxBytes
  }

  isFull(): boolean {
    return this.#journal.bytes() >= this.#maxBytes
  }

  /**
   * True if the organization wrote as much to the nearly full journal as is left for all. What is left shrinks by halves, so the
   * next organization always finds some.
   */
  isFullFor(orgId: string): boolean {
    if (!this.isNearlyFull()) return false
    return (this.#late.get(orgId) ?? 0) >= this.#maxBytes - this.#journal.bytes()
  }

  /** False if a record leaves no line. Always true where something is billed. */
  hasRoomFor(record: RequestRecord): boolean {
    return !isUnbilled(record) || !this.isNearlyFull()
  }

  isNearlyFull(): boolean {
    return this.#isAbove(NEARLY_FULL_AT)
  }

  /** Returns the line of a record, as short as the journal's space requires. `isWithoutBodies`: brief even if there is space. */
  toLine(record: RequestRecord, isWithoutBodies: boolean): LineWithRecord {
    const isBrief = isWithoutBodies || this.#isAbove(isUnbilled(record) ? CUT_UNBILLED_AT : NEARLY_FULL_AT)
    const line = isBrief ? toBriefLine(record) : toLineWithRecord(record)
    this.#note(record.org_id, line.json.length)
    return line
  }

  #note(orgId: string, chars: number): void {
    if (this.isNearlyFull()) this.#late.set(orgId, (this.#late.get(orgId) ?? 0) + chars)
    else if (this.#late.size > 0) this.#late.clear()
  }

  #isAbove(part: number): boolean {
    return this.#journal.bytes() >= this.#maxBytes * part
  }
}
