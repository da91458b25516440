import { type RawBuilder, sql } from 'kysely'
import type { QueueRoom } from '../core/queue-room.ts'
import type { Db } from './pool.ts'

/** A table whose items wait for a time, with indexes on (org_id, that time, id) and on that time. */
export interface Queue {
  readonly table: string
  /** The column of the time. null: the item waits no more. */
  readonly dueAt: string
}

/** While fewer items are due, they tell which organizations have some. */
const FEW = 1_000
/** How long what a walk through all organizations found is used. */
const WALK_EVERY_MS = 1_000

/**
 * The organizations that have due items in a queue. If many items are due, one step along an index for each organization with items that
 * wait finds them, at most once a second: it takes 20 ms of PostgreSQL for 10,000 organizations, and claims may follow each other twenty
 * times a second. Meanwhile only the first due items tell of further organizations.
 */
export class DueOwners {
  readonly #queue: Queue
  #walked: readonly string[] = []
  /** Unix milliseconds. */
  #walkedAt = Number.NEGATIVE_INFINITY

  constructor(queue: Queue) {
    this.#queue = queue
  }

  /** Returns the ids of organizations that have due items, and of some that had within the last second. `now`: Unix milliseconds. */
  async list(db: Db, now: number): Promise<string[]> {
    const [queue, due, at] = [sql.table(this.#queue.table), sql.ref(this.#queue.dueAt), new Date(now)]
    const { rows } = await sql<{ org_id: string; items: number }>`
      select org_id, count(*)::integer as items
        from (select org_id from ${queue} where ${due} <= ${at} order by ${due} limit ${FEW}) as few
        group by org_id`.execute(db)
    const owners = rows.map(row => row.org_id)
    if (rows.reduce((sum, { items }) => sum + items, 0) < FEW) return owners
    if (Math.abs(now - this.#walkedAt) >= WALK_EVERY_MS) {
      this.#walked = await this.#walk(db, at)
      this.#walkedAt = now
    }
    return [...new Set([...owners, ...this.#walked])]
  }

  async #walk(db: Db, at: Date): Promise<string[]> {
    const [queue, due] = [sql.table(this.#queue.table), sql.ref(this.#queue.dueAt)]
    const { rows } = await sql<{ org_id: string }>`
      with recursive walked (org_id, first_due) as (
        (select org_id, ${due} from ${queue} where ${due} is not null order by org_id, ${due} limit 1)
        union all
        select next.* from walked cross join lateral (
          select org_id, ${due} from ${queue} where ${due} is not null and org_id > walked.org_id order by org_id, ${due} limit 1
        ) as next
      )
      select org_id from walked where first_due <= ${at}`.execute(db)
    return rows.map(row => row.org_id)
  }
}

/**
 * SQL: the ids of items of these organizations that are due and may run now, in turns of organizations, locked. The turn of an item counts
 * those of its organization that run already or come before it; its place counts among slow or other organizations. Slow organizations come
 * last, but a few of their items do not, so that others cannot keep them waiting for ever.
 *
 * Of each organization the first items are read, as many as it may run, so that one with very many delays no other.
 */
export function selectInTurns(
  { table, dueAt }: Queue,
  organizations: readonly string[],
  now: Date,
  room: QueueRoom,
): RawBuilder<unknown> {
  const [queue, due] = [sql.table(table), sql.ref(dueAt)]
  const { limit, slow, slowLimit, slowShare, ofOrganization, running } = room
  return sql`
    with owners as (
      select o.org_id, o.org_id = any(${slow}::uuid[]) as is_slow, coalesce(r.running, 0) as running
        from unnest(${organizations}::uuid[]) as o(org_id)
        left join unnest(${[...running.keys()]}::uuid[], ${[...running.values()]}::integer[]) as r(org_id, running)
          on r.org_id = o.org_id
    ), numbered as (
      select d.id, d.due_at, o.is_slow,
          o.running + row_number() over (partition by o.org_id order by d.due_at, d.id) as turn
        from owners o cross join lateral (
          select id, ${due} as due_at from ${queue} where org_id = o.org_id and ${due} <= ${now}
            order by ${due}, id limit greatest(0, ${ofOrganization}::integer - o.running)
        ) as d
    ), placed as (
      select *, row_number() over (partition by is_slow order by turn, due_at, id) as place from numbered
    ), turns as (
      select id, is_slow and place > ${slowShare}::integer as is_last, turn, due_at from placed
        where not is_slow or place <= ${slowLimit}::integer
        order by is_last, turn, due_at, id
    )
    select q.id from ${queue} as q join turns on turns.id = q.id where q.${due} <= ${now}
      order by turns.is_last, turns.turn, turns.due_at, turns.id limit ${limit} for update of q skip locked`
}
