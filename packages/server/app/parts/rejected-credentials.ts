import type { Credential } from '../../core/tenancy/tenancy.ts'

/** A credential as the refused request used it. */
type RefusedCredential = Pick<Credential, 'id' | 'updatedAt'>

/** Why a provider refuses a credential. */
type Reason = 'auth' | 'quota'

/** How long a reason of a credential is not stored again. */
const STORED_MS = 60_000
const MAX_NOTED = 20_000

/**
 * Stores which credentials are refused by their providers: one after another, and each reason of a credential once a minute, unless a
 * member changes it. A provider of a tenant's own may refuse every request, now for this reason and now for that one, and each change
 * of the row is an event.
 */
export class RejectedCredentials {
  readonly #store: (credential: RefusedCredential, reason: Reason) => Promise<void>
  readonly #now: () => number
  readonly #onError: (error: unknown) => void
  /** When each was noted, by credential, its latest change and reason. The oldest come first. */
  readonly #noted = new Map<string, number>()
  #storing: Promise<void> = Promise.resolve()

  constructor(
    store: (credential: RefusedCredential, reason: Reason) => Promise<void>,
    now: () => number,
    onError: (error: unknown) => void,
  ) {
    this.#store = store
    this.#now = now
    this.#onError = onError
  }

  note({ id, updatedAt }: RefusedCredential, reason: Reason): void {
    const key = `${id} ${updatedAt} ${reason}`
    const now = this.#now()
    const notedAt = this.#noted.get(key)
    if (notedAt !== undefined && now - notedAt < STORED_MS && now >= notedAt) return
    this.#noted.delete(key)
    const [oldest] = this.#noted.size < MAX_NOTED ? [] : this.#noted.keys()
    if (oldest !== undefined) this.#noted.delete(oldest)
    this.#noted.set(key, now)
    this.#storing = this.#storing
      .then(() => this.#store({ id, updatedAt }, reason))
      .catch(error => {
        this.#noted.delete(key)
        this.#onError(error)
      })
  }
}
