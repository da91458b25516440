import { acquire, type CapacityShare, release } from '../../core/admission/fair-share.ts'
import type { Log } from '../../core/log.ts'
import { LogPace } from '../../core/log-pace.ts'

/** Whose answers are counted together. */
export interface AnswerScope {
  /** Who this is in the log, which names no end users. */
  readonly logName: string
  /** The owner's share of the bytes of answers. */
  readonly answers: CapacityShare
}

/** An answer that was made and waits until its caller reads it. */
export interface UnreadAnswer {
  readonly unreadBytes: number
  /** Disconnects the caller, and calls `remove`. */
  drop(): void
}

/**
 * Bounds the memory of answers that callers do not read. Whose answers exceed its share loses those first that wait
 * longest: their callers are disconnected, since an answer cannot be made smaller. What still arrives from providers takes the same
 * shares.
 */
export class UnreadAnswers {
  /** Answers whose callers were disconnected. */
  dropped = 0
  readonly #log: Pick<Log, 'warn'>
  /** The oldest come first. */
  readonly #byScope = new Map<AnswerScope, Set<UnreadAnswer>>()
  readonly #logPace = new LogPace()

  constructor(log: Pick<Log, 'warn'>) {
    this.#log = log
  }

  /** Returns false if there is no room, also without the scope's other answers. */
  add(scope: AnswerScope, answer: UnreadAnswer): boolean {
    if (!this.makeRoom(scope, answer.unreadBytes)) {
      this.#count(scope)
      return false
    }
    const answers = this.#byScope.get(scope)
    if (answers === undefined) this.#byScope.set(scope, new Set([answer]))
    else answers.add(answer)
    return true
  }

  /** Acquires bytes of the scope's share, for which its oldest unread answers go. Returns false if there is no room without them either. */
  makeRoom(scope: AnswerScope, bytes: number): boolean {
    while (!acquire(scope.answers, bytes)) {
      const [oldest] = this.#byScope.get(scope) ?? []
      if (oldest === undefined) return false
      this.#count(scope)
      oldest.drop()
    }
    return true
  }

  remove(scope: AnswerScope, answer: UnreadAnswer): void {
    const answers = this.#byScope.get(scope)
    if (answers?.delete(answer) !== true) return
    release(scope.answers, answer.unreadBytes)
    if (answers.size === 0) this.#byScope.delete(scope)
  }

  #count({ logName }: AnswerScope): void {
    this.dropped++
    if (!this.#logPace.isDue(performance.now())) return
    const details = { by: logName, dropped: this.dropped }
    this.#log.warn(details, 'callers are disconnected that leave too many bytes of answers unread')
  }
}
