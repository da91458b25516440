import { hash } from 'node:crypto'
import type { Actor } from '../../core/access/permissions.ts'
import { Fault } from '../../core/fault.ts'
import { findIdempotentCreate, insertIdempotentCreate } from '../../storage/idempotency/idempotent-creates.ts'
import type { Db } from '../../storage/pool.ts'
import { noResource } from '../operation/granted-access.ts'
import type { Services } from '../operation/operation.ts'

/** An authorized call that creates, and the key that its caller sent. */
export interface IdempotentCall {
  readonly key: string
  readonly actor: Actor
  /** The name of the operation. */
  readonly operation: string
  /** The ids in the path. */
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
  /** The organizations that the caller may reach. */
  readonly reach: readonly string[]
}

/** Stores the answer in the transaction that creates. `orgId`: the organization of what was created. */
export type StoreAnswer = (db: Db, orgId: string, result: unknown) => Promise<void>

interface SealedAnswer {
  /** SHA-256 of the body. Sealed too, so that the database confirms no guess of a secret in it. */
  readonly body: string
  readonly result: unknown
}

const KEPT_MS = 24 * 3_600_000

type Deps = Pick<Services, 'wholeDb' | 'secretBox' | 'clock' | 'newId'>

/** Another transaction stored the answer first. Rolls this one back. */
class AlreadyStored extends Error {}

/**
 * Runs a creating call once per `Idempotency-Key` and gives later calls its answer for 24 hours. The answer is committed
 * with what it created, so that neither exists without the other (docs/decisions/0035-idempotent-creates.md).
 */
export class IdempotentCreates {
  readonly #deps: Deps
  /** The calls of this process that run. Calls with the same key wait for them and hold no connection meanwhile. */
  readonly #running = new Map<string, Promise<unknown>>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /**
   * Returns the result of `create`, or the kept one. `create` must call its argument in the transaction that creates;
   * where that throws, the transaction must roll back.
   */
  async run(
    call: IdempotentCall,
    create: (keep: StoreAnswer) => Promise<unknown>,
  ): Promise<{ readonly result: unknown; readonly isReplayed: boolean }> {
    const digest = digestOf([
      call.actor.kind,
      call.actor.id,
      call.operation,
      toLowerCased(call.params),
      call.key,
    ])
    for (;;) {
      const running = this.#running.get(digest)
      if (running === undefined) break
      await running
    }
    const work = this.#runFirst(call, Buffer.from(digest, 'hex'), create)
    const ended = work.then(
      () => undefined,
      () => undefined,
    )
    this.#running.set(digest, ended)
    try {
      return await work
    } finally {
      this.#running.delete(digest)
    }
  }

  async #runFirst(call: IdempotentCall, hashed: Buffer, create: (keep: StoreAnswer) => Promise<unknown>) {
    const body = digestOf([call.query, call.body ?? {}])
    const kept = await this.#find(call, hashed, body)
    if (kept !== undefined) return { result: kept.result, isReplayed: true }
    try {
      const result = await create((db, orgId, created) =>
        this.#keep(db, hashed, orgId, { body, result: created }),
      )
      return { result, isReplayed: false }
    } catch (error) {
      // Another process may have created it meanwhile: then this one failed by what the other created.
      const theirs = await this.#find(call, hashed, body)
      if (theirs === undefined) throw error
      return { result: theirs.result, isReplayed: true }
    }
  }

  async #find({ reach }: IdempotentCall, hashed: Buffer, body: string): Promise<SealedAnswer | undefined> {
    const { wholeDb, secretBox, clock } = this.#deps
    const row = await findIdempotentCreate(wholeDb, hashed, new Date(clock.now()))
    if (row === undefined) return undefined
    // The caller created an organization and has left it since.
    if (!reach.includes(row.org_id)) throw noResource()
    const kept = JSON.parse(secretBox.open(row.answer_cipher, contextOf(row.id))) as SealedAnswer
    if (kept.body === body) return kept
    const message = 'This Idempotency-Key was used with another body.'
    throw new Fault('idempotency_conflict', message, { param: 'Idempotency-Key' })
  }

  async #keep(db: Db, hashed: Buffer, orgId: string, answer: SealedAnswer): Promise<void> {
    const { secretBox, clock, newId } = this.#deps
    const id = newId()
    const isKept = await insertIdempotentCreate(db, {
      id,
      hash: hashed,
      org_id: orgId,
      expires_at: new Date(clock.now() + KEPT_MS),
      answer_cipher: secretBox.seal(JSON.stringify(answer), contextOf(id)),
    })
    if (!isKept) throw new AlreadyStored('the answer of this Idempotency-Key is kept already')
  }
}

/** The context that the sealed answer is bound to (storage/secrets/sealed-columns.ts). */
function contextOf(id: string): string {
  return `idempotent_creates:${id}`
}

function digestOf(parts: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(parts), 'hex')
}

/** One id may be written in both cases. */
function toLowerCased(params: unknown): string {
  return JSON.stringify(params ?? null).toLowerCase()
}
