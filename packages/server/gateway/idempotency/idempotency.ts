import type { Log } from '../../core/log.ts'
import { LogPace } from '../../core/log-pace.ts'
import { type OnException, runGuarded } from '../../core/on-exception.ts'
import { within } from '../../http/within.ts'
import type { StoredClaim } from '../../storage/idempotency/idempotent-answers.ts'
import type { IdentifiedContext } from '../request/request-context.ts'
import { AnswerMemory } from './answer-memory.ts'
import type { AnswerStore } from './answer-store.ts'
import { ClaimWatch } from './claim-watch.ts'
import {
  conflictFault,
  IdempotencyGroup,
  type IdempotencyGroupOwner,
  type IdempotencyScope,
} from './idempotency-group.ts'
import { PacedReads } from './paced-reads.ts'
import type { RequestIdentity } from './request-identity.ts'
import { decodeAnswer, encodeAnswer, type StoredAnswer, toOwnMemory } from './stored-answer.ts'
import { StoredBytesLimit } from './stored-bytes-limit.ts'
import { type UnstoredAnswer, UnstoredAnswers } from './unstored-answers.ts'

const KEPT_MS = 86_400_000
const MEMORY_BYTES = 32 * 1024 * 1024
/** A process loses its claims ten seconds after its last renewal (storage/migrations/0004-idempotency.ts). */
const RENEW_MS = 2_500
/** How long a request waits for the database before it is refused. */
const CLAIM_MS = 5_000
/** How long a complete answer waits to be stored before it is sent. */
const KEEP_MS = 2_000
/** A claim that changes hands more often than this meanwhile is not this process's to get. */
const MAX_ROUNDS = 5

export interface IdempotencyOptions {
  readonly store: AnswerStore
  /** Identifies this process. */
  readonly owner: string
  /** What this process stores at most for an organization between two removals. */
  readonly maxBytes: number
  readonly newId: () => string
  /** Unix milliseconds. */
  readonly now: () => number
  readonly log: Pick<Log, 'warn'>
  readonly onException: OnException
}

/**
 * Makes one answer for all requests with one `Idempotency-Key`, in all gateway processes of a database, and keeps it for a
 * day. docs/decisions/0034-idempotency.md has the reasons.
 */
export class Idempotency implements IdempotencyGroupOwner {
  readonly #options: IdempotencyOptions
  readonly #groups = new Map<string, IdempotencyGroup>()
  readonly #watch: ClaimWatch
  readonly #memory = new AnswerMemory(MEMORY_BYTES)
  readonly #unstored = new UnstoredAnswers()
  readonly #storedBytes: StoredBytesLimit
  readonly #reads = new PacedReads()
  /** Claims that this process has or waits for. It renews its row for them. */
  readonly #claims = new Set<string>()
  /** Claims that could not be released yet. */
  readonly #unreleased = new Set<string>()
  readonly #timer: NodeJS.Timeout
  #replays = 0
  readonly #logPace = new LogPace()
  #renewedAt = Number.NEGATIVE_INFINITY
  #renewing: Promise<void> | undefined

  constructor(options: IdempotencyOptions) {
    this.#options = options
    const { store, owner, maxBytes, onException } = options
    this.#storedBytes = new StoredBytesLimit(maxBytes)
    this.#watch = new ClaimWatch({
      find: hashes => within(CLAIM_MS, store.findAll(hashes), () => noAnswer(CLAIM_MS)),
      isRunning: found => !found.isKept && !found.isFree && found.owner !== owner,
      onException,
    })
    this.#timer = setInterval(
      () => runGuarded('the renewal of idempotency claims', onException, () => this.#tick()),
      RENEW_MS,
    )
    this.#timer.unref()
  }

  /**
   * Returns the answer to replay. undefined: the request makes the answer, and its context has the recorder. Rejects with
   * `idempotency_conflict`, `config_unavailable`, or the fault of a request that was stopped.
   */
  async join(ctx: IdentifiedContext, { hash, bodyHash }: RequestIdentity): Promise<StoredAnswer | undefined> {
    ctx.assertNotStopped()
    const key = hash.toString('base64')
    const known = this.#unstored.find(key) ?? this.#memory.find(key, this.#options.now())
    if (known !== undefined) {
      if (!known.bodyHash.equals(bodyHash)) throw conflictFault()
      return known.answer
    }
    const group = this.#groups.get(key)
    if (group !== undefined) return await group.join(ctx, bodyHash)
    const { id: environmentId, orgId } = ctx.environment
    const opened = new IdempotencyGroup(key, { hash, orgId, environmentId }, this)
    this.#groups.set(key, opened)
    const joining = opened.join(ctx, bodyHash)
    void opened.claim()
    return await joining
  }

  /** Requests that were answered by another request's answer. They leave no record. */
  get replays(): number {
    return this.#replays
  }

  countReplay(): void {
    this.#replays++
  }

  async claim(
    scope: IdempotencyScope,
    bodyHash: Buffer,
  ): Promise<{ readonly claimId: string } | StoredClaim> {
    const claimId = this.#options.newId()
    this.#claims.add(claimId)
    try {
      const found = await within(
        CLAIM_MS,
        this.#tryClaim(claimId, scope, bodyHash),
        () => noAnswer(CLAIM_MS),
        late => {
          if ('claimId' in late) this.release(late.claimId)
        },
      )
      if (!('claimId' in found)) this.#claims.delete(claimId)
      return found
    } catch (error) {
      this.#claims.delete(claimId)
      this.#log({ err: error }, 'requests with an idempotency key are refused: it cannot be checked')
      throw error
    }
  }

  /** Many requests may fail for one reason. */
  #log(details: object, message: string): void {
    if (this.#logPace.isDue(performance.now())) this.#options.log.warn(details, message)
  }

  /** Ends without a claim once `claimId` is not waited for any more: a later request of this process may have claimed the key. */
  async #tryClaim(
    claimId: string,
    scope: IdempotencyScope,
    bodyHash: Buffer,
  ): Promise<{ readonly claimId: string } | StoredClaim> {
    const { store, owner } = this.#options
    if (performance.now() - this.#renewedAt > RENEW_MS) await this.#renew()
    const claim = {
      id: claimId,
      hash: scope.hash,
      bodyHash,
      orgId: scope.orgId,
      environmentId: scope.environmentId,
      owner,
    }
    for (let round = 0; round < MAX_ROUNDS && this.#claims.has(claimId); round++) {
      if (await store.insert(claim)) return { claimId }
      const found = await store.find(scope.hash)
      if (found === undefined) continue
      // The claim's release is under way, or its insertion was late.
      const isAbandoned = found.owner === owner && !found.isKept && !this.#claims.has(found.id)
      if (!found.isFree && !isAbandoned) return found
      if (!this.#claims.has(claimId)) break
      if (await store.takeOver(claim, found.id)) return { claimId }
    }
    throw new Error('an idempotency key changed hands too often')
  }

  async read(
    { key, scope }: Pick<IdempotencyGroup, 'key' | 'scope'>,
    found: StoredClaim,
  ): Promise<StoredAnswer | undefined> {
    const { store, now } = this.#options
    const onTimeout = (): Error => noAnswer(CLAIM_MS)
    const stored = await this.#reads.run(
      scope,
      found.bytes,
      () => within(CLAIM_MS, store.read(found.id, scope), onTimeout),
      CLAIM_MS,
      onTimeout,
    )
    if (stored === undefined) return undefined
    const answer = toOwnMemory(decodeAnswer(stored.bytes))
    this.#memory.add(key, { bodyHash: found.bodyHash, answer, expiresAt: now() + stored.leftMs })
    return answer
  }

  async keep(
    { key, scope }: IdempotencyGroup,
    claimId: string,
    bodyHash: Buffer,
    answer: StoredAnswer,
  ): Promise<'kept' | 'lost' | 'free'> {
    const now = this.#options.now()
    const { orgId, environmentId } = scope
    if (!this.#storedBytes.add(orgId, answer.body.length, now)) {
      this.#log({ orgId, environmentId }, 'an organization keeps too many answers of its idempotency keys')
      return 'free'
    }
    const remembered = { bodyHash, answer: toOwnMemory(answer), expiresAt: now + KEPT_MS }
    const unstored = { claimId, owner: scope, remembered, isBusy: false }
    const storing = this.#store(key, unstored)
    try {
      return (await within(KEEP_MS, storing, () => noAnswer(KEEP_MS))) ? 'kept' : 'lost'
    } catch (error) {
      if (this.#unstored.add(key, unstored)) return 'kept'
      this.#log({ err: error }, 'an answer of an idempotency key could not be kept')
      return 'free'
    }
  }

  /** Returns false if the claim was taken over. Rejects if the database fails. */
  async #store(key: string, unstored: UnstoredAnswer): Promise<boolean> {
    const { claimId, owner, remembered } = unstored
    unstored.isBusy = true
    try {
      const isKept = await this.#options.store.keep(claimId, encodeAnswer(remembered.answer), owner)
      this.#claims.delete(claimId)
      this.#unstored.remove(key, unstored)
      if (isKept) this.#memory.add(key, remembered)
      else this.#options.log.warn({}, 'a claim of an idempotency key was lost before its answer was stored')
      return isKept
    } finally {
      unstored.isBusy = false
    }
  }

  release(claimId: string): void {
    this.#claims.delete(claimId)
    this.#options.store.release([claimId]).catch(() => this.#unreleased.add(claimId))
  }

  watch(group: IdempotencyGroup): void {
    this.#watch.add(group)
  }

  forget(group: IdempotencyGroup): void {
    if (this.#groups.get(group.key) === group) this.#groups.delete(group.key)
  }

  /** Concurrent callers share one renewal. */
  #renew(): Promise<void> {
    this.#renewing ??= this.#options.store
      .renewOwner(this.#options.owner)
      .then(() => {
        this.#renewedAt = performance.now()
      })
      .finally(() => {
        this.#renewing = undefined
      })
    return this.#renewing
  }

  async #tick(): Promise<void> {
    if (this.#claims.size > 0) await this.#renew().catch(() => {})
    await this.#writeAgain()
  }

  /** Writes what the database did not take before. Never rejects. */
  async #writeAgain(): Promise<void> {
    const released = [...this.#unreleased]
    if (released.length > 0) {
      await this.#options.store.release(released).then(
        () => {
          for (const id of released) this.#unreleased.delete(id)
        },
        () => {},
      )
    }
    // At the same time, so that the answers of one organization neither delay nor stop those of another.
    await Promise.all(this.#unstored.listByOrganization().map(answers => this.#writeInOrder(answers)))
  }

  /** Stops at the first answer that cannot be written. Never rejects. */
  async #writeInOrder(answers: readonly (readonly [string, UnstoredAnswer])[]): Promise<void> {
    for (const [key, unstored] of answers) {
      if (unstored.isBusy) continue
      const isWritten = await this.#store(key, unstored).then(
        () => true,
        () => false,
      )
      if (!isWritten) return
    }
  }

  /** Writes what is left, and frees the claims of this process. Called once no request runs. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#watch.close()
    const { store, owner, log } = this.#options
    const ending = this.#writeAgain().then(() => store.removeOwner(owner))
    await within(KEEP_MS, ending, () => noAnswer(KEEP_MS)).catch(error =>
      log.warn({ err: error }, 'the idempotency keys of this process become free later'),
    )
    if (this.#unstored.size > 0)
      log.warn({ answers: this.#unstored.size }, 'answers of idempotency keys could not be stored')
  }
}

function noAnswer(timeoutMs: number): Error {
  return new Error(`no answer of the database in ${timeoutMs} ms`)
}
