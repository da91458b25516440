import { setTimeout as wait } from 'node:timers/promises'
import type { Pool, PoolClient } from 'pg'
import { withSessionLock } from '../session-lock.ts'

/** Rows that one statement deletes: locks stay short. */
const BATCH_ROWS = 1_000
/** The bytes of the answers that one statement deletes, beyond the last one's. Those of 16 MiB take PostgreSQL 30 ms each. */
const BATCH_BYTES = 64 * 1024 * 1024
/** Rows whose sizes one statement adds up. */
const PAGE_ROWS = 10_000
/** What a row takes besides its answer, in bytes. */
const ROW_BYTES = 512
const MAX_REST_MS = 1_000

export interface ExpireOptions {
  /** What the answers of an organization may take, those of all its environments together. */
  readonly maxBytes: number
  /** Stops the run after the current statement. */
  readonly signal?: AbortSignal
  /** Rests after a statement that took `tookMs`. Default: for as long, but at most a second. */
  readonly rest?: (tookMs: number) => Promise<unknown>
}

export interface RemovedAnswers {
  /** How many answers had expired, or were claims of processes that ended. */
  readonly expired: number
  /** How many answers their organizations had too many. */
  readonly surplus: number
  /** Why something was left. All else was removed. */
  readonly failures: readonly Error[]
}

/**
 * Removes expired answers, claims of processes that ended an hour ago, and of organizations that have more than `maxBytes` their
 * oldest answers. Returns what it removed; undefined if another process is doing so. Rejects if the organizations cannot be listed.
 */
export async function expireAnswers(pool: Pool, options: ExpireOptions): Promise<RemovedAnswers | undefined> {
  return await withSessionLock(pool, 'rideau.idempotency', async client => {
    const removal = new Removal(client, options)
    await removal.removeExpired()
    await removal.removeSurplus()
    return removal
  })
}

/** A place among the answers of an organization by their age. */
interface Place {
  /** As PostgreSQL writes it: a Date would lose the microseconds. */
  readonly expiresAt: string
  readonly id: string
}

/** The answers of an organization that are too many. */
interface Surplus {
  readonly orgId: string
  /** The newest of them. */
  readonly last: Place
  /** Older ones were removed already, or passed over because another transaction had locked them. */
  readonly from: string
}

const FIRST_ID = '00000000-0000-0000-0000-000000000000'
const NEWEST: Place = { expiresAt: 'infinity', id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' }

class Removal implements RemovedAnswers {
  readonly #client: PoolClient
  readonly #maxBytes: number
  readonly #signal: AbortSignal | undefined
  readonly #rest: (tookMs: number) => Promise<unknown>
  readonly failures: Error[] = []
  expired = 0
  surplus = 0

  constructor(client: PoolClient, { maxBytes, signal, rest = restAsLong }: ExpireOptions) {
    this.#client = client
    this.#maxBytes = maxBytes
    this.#signal = signal
    this.#rest = rest
  }

  get #isStopped(): boolean {
    return this.#signal?.aborted === true
  }

  async removeExpired(): Promise<void> {
    for (const text of [DELETE_EXPIRED, DELETE_ABANDONED]) {
      await this.#attempt('expired answers', async () => {
        for (let count = 1; count > 0 && !this.#isStopped; this.expired += count)
          count = (await this.#query<{ count: number }>(text, []))?.count ?? 0
      })
    }
    await this.#attempt('processes that ended', () => this.#query(DELETE_OWNERS, []))
  }

  /** Organizations take turns: one with very many answers delays the others by one batch each time. */
  async removeSurplus(): Promise<void> {
    for (let waiting = await this.#listSurplus(); waiting.length > 0 && !this.#isStopped; ) {
      const next: Surplus[] = []
      for (const surplus of waiting) {
        if (this.#isStopped) break
        await this.#attempt(`organization ${surplus.orgId}`, async () => {
          const from = await this.#removeBatch(surplus)
          if (from !== undefined) next.push({ ...surplus, from })
        })
      }
      waiting = next
    }
  }

  /** Returns where the next batch begins; undefined after the last one. */
  async #removeBatch({ orgId, last, from }: Surplus): Promise<string | undefined> {
    const removed = await this.#query<{ count: number; newest: string | null }>(DELETE_OLDEST, [
      orgId,
      last.expiresAt,
      last.id,
      from,
    ])
    this.surplus += removed?.count ?? 0
    return removed?.newest ?? undefined
  }

  async #listSurplus(): Promise<Surplus[]> {
    const found: Surplus[] = []
    for (let after = FIRST_ID; !this.#isStopped; ) {
      const next = await this.#query<{ orgId: string }>(FIND_ORGANIZATION, [after])
      if (next === undefined) break
      const { orgId } = next
      after = orgId
      await this.#attempt(`organization ${orgId}`, async () => {
        const last = await this.#findNewestSurplus(orgId)
        if (last !== undefined) found.push({ orgId, last, from: '-infinity' })
      })
    }
    return found
  }

  /** Adds up the sizes of an organization's answers, the newest first. undefined: all of them may stay. */
  async #findNewestSurplus(orgId: string): Promise<Place | undefined> {
    let before = NEWEST
    for (let leftBytes = this.#maxBytes; !this.#isStopped; ) {
      const found = await this.#query<Place & { bytes: number }>(FIND_SURPLUS, [
        orgId,
        before.expiresAt,
        before.id,
        leftBytes,
      ])
      if (found === undefined || found.bytes > leftBytes) return found
      leftBytes -= found.bytes
      before = found
    }
    return undefined
  }

  /** Returns the first row. Rests afterwards, so that other statements have at least half of the database's time. */
  async #query<Row extends object>(text: string, values: readonly unknown[]): Promise<Row | undefined> {
    const startedAt = performance.now()
    try {
      return (await this.#client.query<Row>(text, [...values])).rows[0]
    } finally {
      if (!this.#isStopped) await this.#rest(performance.now() - startedAt)
    }
  }

  /** Nothing that fails for one organization keeps the others' surplus in the database. */
  async #attempt(what: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work()
    } catch (cause) {
      this.failures.push(new Error(`${what}: ${cause instanceof Error ? cause.message : cause}`, { cause }))
    }
  }
}

function restAsLong(tookMs: number): Promise<unknown> {
  return wait(Math.min(tookMs, MAX_REST_MS))
}

/** Deletes the first of the selected rows. The array is made once: PostgreSQL may run a subquery with a limit again for each row. */
const deleteFirst = (selected: string): string => `
  with deleted as (
    delete from idempotent_answers where id = any(array(
      select id from (
        select id, sum(answer_bytes) over (order by expires_at, id rows unbounded preceding) - answer_bytes as before from (
          select id, expires_at, answer_bytes from idempotent_answers where ${selected}
            limit ${BATCH_ROWS} for update skip locked
        ) as locked
      ) as summed where before < ${BATCH_BYTES}
    )) returning expires_at
  ) select count(*)::integer as count, max(expires_at)::text as newest from deleted`

const DELETE_EXPIRED = deleteFirst('expires_at <= now() order by expires_at')

const DELETE_ABANDONED = deleteFirst(`expires_at is null and claimed_at < now() - interval '1 hour'
  and not is_idempotency_owner_alive(owner)`)

const DELETE_OWNERS = "delete from idempotency_owners where renewed_at < now() - interval '1 hour'"

/*
 * The index idempotent_answers_age answers what follows. The organization is bounded from both sides, and not compared by `=`, for then
 * PostgreSQL may choose the index of the expiry instead, and pass over the answers of all others.
 */

const FIND_ORGANIZATION = `select org_id as "orgId" from idempotent_answers
  where expires_at is not null and org_id > $1 order by org_id limit 1`

/** Finds the first answer, the newest first, that no room is left for; else the last one of a whole page. */
const FIND_SURPLUS = `
  select expires_at::text as "expiresAt", id, bytes::float8 as bytes from (
    select expires_at, id, row_number() over ages as place, sum(answer_bytes + ${ROW_BYTES}) over ages as bytes from (
      select org_id, expires_at, id, answer_bytes from idempotent_answers
        where expires_at is not null and (org_id, expires_at, id) < ($1::uuid, $2::timestamptz, $3::uuid) and org_id >= $1
        order by org_id desc, expires_at desc, id desc limit ${PAGE_ROWS}
    ) as page window ages as (order by org_id desc, expires_at desc, id desc rows unbounded preceding)
  ) as summed where bytes > $4::bigint or place = ${PAGE_ROWS} order by place limit 1`

const DELETE_OLDEST = deleteFirst(`expires_at is not null
  and (org_id, expires_at, id) <= ($1::uuid, $2::timestamptz, $3::uuid) and (org_id, expires_at) >= ($1, $4::timestamptz)
  order by org_id, expires_at, id`)
