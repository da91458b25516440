import { FairCache } from '../../core/admission/fair-cache.ts'
import type { Log } from '../../core/log.ts'
import type { Environment } from '../../core/tenancy/tenancy.ts'
import type { SeenEndUser } from '../../storage/end-users/end-users.ts'

export interface SeenEndUsersOptions {
  /** Inserts the records of those that have none, by one statement. */
  readonly insert: (seen: readonly SeenEndUser[]) => Promise<void>
  readonly newId: () => string
  /** Unix milliseconds. */
  readonly now: () => number
  readonly log: Pick<Log, 'warn'>
}

/** End users are noted again after this time, since their records may have been deleted. */
const NOTED_MS = 10 * 60_000
/** The wait after a failed statement. */
const RETRY_MS = 1_000
const MAX_NOTED = 50_000
/** More that wait are forgotten, and noted when a request names them again. */
const MAX_WAITING = 5_000
const MAX_BATCH = 500

/** Gives each end user that a request names a record, without any request waiting for it. */
export class SeenEndUsers {
  readonly #options: SeenEndUsersOptions
  /** When each was noted, by environment id and end user id. Organizations hold them. */
  readonly #noted = new FairCache<number>(MAX_NOTED)
  readonly #waiting = new Map<string, SeenEndUser>()
  /** How many were put among those that wait, and how many of these do not wait any more. */
  #taken = 0
  #finished = 0
  /** The calls of `settled` that wait, in order. */
  readonly #settling: { readonly after: number; readonly resolve: () => void }[] = []
  #isWriting = false
  #retryAt = 0

  constructor(options: SeenEndUsersOptions) {
    this.#options = options
  }

  /** Notes an end user that a request names. Its record is inserted shortly after. */
  note(environment: Environment, id: string): void {
    const key = environment.id + id
    const now = this.#options.now()
    const notedAt = this.#noted.find(key)
    if (notedAt !== undefined && now - notedAt < NOTED_MS) return
    if (this.#waiting.size >= MAX_WAITING || now < this.#retryAt) return
    this.#noted.set(environment.orgId, key, now)
    if (this.#waiting.has(key)) return
    this.#taken++
    this.#waiting.set(key, this.toSeen(environment, id))
    if (!this.#isWriting) void this.#write()
  }

  /** Returns the record of an end user that is seen now. */
  toSeen(environment: Environment, id: string): SeenEndUser {
    const { newId, now } = this.#options
    const at = new Date(now())
    return {
      id: newId(),
      org_id: environment.orgId,
      project_id: environment.projectId,
      environment_id: environment.id,
      external_id: id,
      created_at: at,
      updated_at: at,
    }
  }

  /**
   * Resolves once everything that was noted before is stored, or could not be. It does not wait for what is noted from then on, which one
   * key can make endless.
   */
  settled(): Promise<void> {
    const after = this.#taken
    if (this.#finished >= after) return Promise.resolve()
    return new Promise(resolve => void this.#settling.push({ after, resolve }))
  }

  /** Never rejects. Requests that arrive during a statement share the next one. */
  async #write(): Promise<void> {
    this.#isWriting = true
    // The end users of one tick share a statement.
    await new Promise(resolve => setImmediate(resolve))
    try {
      while (this.#waiting.size > 0) {
        await this.#writeBatch()
        this.#settle()
      }
    } finally {
      this.#isWriting = false
    }
  }

  #settle(): void {
    while (this.#settling.length > 0 && (this.#settling[0]?.after ?? 0) <= this.#finished) {
      this.#settling.shift()?.resolve()
    }
  }

  async #writeBatch(): Promise<void> {
    const batch = [...this.#waiting.entries()].slice(0, MAX_BATCH)
    for (const [key] of batch) this.#waiting.delete(key)
    try {
      await this.#options.insert(batch.map(([, seen]) => seen))
      this.#finished += batch.length
    } catch (error) {
      for (const [key] of batch) this.#noted.delete(key)
      for (const key of this.#waiting.keys()) this.#noted.delete(key)
      this.#waiting.clear()
      this.#finished = this.#taken
      this.#retryAt = this.#options.now() + RETRY_MS
      this.#options.log.warn({ err: error }, 'the records of new end users could not be stored')
    }
  }
}
