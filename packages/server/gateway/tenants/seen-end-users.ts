import { FairCache } from '../../core/admission/fair-cache.ts'
import type { Log } from '../../core/log.ts'
import type { Environment } from '../../core/tenancy/tenancy.ts'
import { GroupedQueries } from '../../http/fairness/grouped-queries.ts'
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
/** More of one organization that wait are forgotten, and noted when a request names them again. */
const MAX_WAITING = 2_000
const MAX_BATCH = 500

/**
 * Gives each end user that a request names a record, without any request waiting for it. Organizations take turns, so that one that
 * names very many delays the records of no other's.
 */
export class SeenEndUsers {
  readonly #options: SeenEndUsersOptions
  /** When each was noted, by environment id and end user id. Organizations hold them. */
  readonly #noted = new FairCache<number>(MAX_NOTED)
  /** Those whose records are being made. They never reject. */
  readonly #making = new Map<string, Promise<void>>()
  readonly #inserts: GroupedQueries<SeenEndUser, undefined>
  #retryAt = 0

  constructor(options: SeenEndUsersOptions) {
    this.#options = options
    this.#inserts = new GroupedQueries({
      maxSize: MAX_BATCH,
      maxWaiting: MAX_WAITING,
      ownerOf: ({ org_id }) => org_id,
      run: batch => this.#insert(batch),
    })
  }

  /**
   * Notes an end user that a request names, whose record is inserted shortly after. Resolves once it is, or could not be; undefined: there
   * is nothing to wait for.
   */
  note(environment: Environment, id: string): Promise<void> | undefined {
    const key = environment.id + id
    const making = this.#making.get(key)
    if (making !== undefined) return making
    const now = this.#options.now()
    const notedAt = this.#noted.find(key)
    if (notedAt !== undefined && now - notedAt < NOTED_MS) return undefined
    if (now < this.#retryAt) return undefined
    this.#noted.set(environment.orgId, key, now)
    const made = this.#make(key, this.toSeen(environment, id))
    this.#making.set(key, made)
    return made
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

  /** Resolves once everything that was noted before is stored, or could not be. */
  async settled(): Promise<void> {
    await Promise.all(this.#making.values())
  }

  /** Never rejects. */
  async #make(key: string, seen: SeenEndUser): Promise<void> {
    try {
      await this.#inserts.query(seen)
    } catch {
      this.#noted.delete(key)
    } finally {
      this.#making.delete(key)
    }
  }

  async #insert(batch: readonly SeenEndUser[]): Promise<undefined[]> {
    // What waited for a statement that failed is forgotten with it.
    if (this.#options.now() < this.#retryAt) throw new Error('the statement before has just failed')
    try {
      await this.#options.insert(batch)
    } catch (error) {
      this.#retryAt = this.#options.now() + RETRY_MS
      this.#options.log.warn({ err: error }, 'the records of new end users could not be stored')
      throw error
    }
    return batch.map(() => undefined)
  }
}
