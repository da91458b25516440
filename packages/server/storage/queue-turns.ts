import { type RawBuilder, sql } from 'kysely'
import type { QueueRoom } from '../core/queue-room.ts'

/** A table whose items wait for a time, with an index on (org_id, that time, id). */
export interface Queue {
  readonly table: string
  /** The column of the time. null: the item waits no more. */
  readonly dueAt: string
}

/** While fewer items are due, they tell which organizations have some. */
const FEW = 1_000

/**
 * SQL: the ids of items that are due and may run now, in turns of organizations, locked. The turn of an item counts those of its
 * organization that run already or come before it; its place counts among slow or other organizations. Slow organizations come last, but
 * a few of their items do not, so that others cannot keep them waiting for ever.
 *
 * Of each organization the first items are read, as many as it may run, so that one with very many delays no other. If many items are due,
 * one step along the index finds each organization with items that wait.
 */
export function selectInTurns({ table, dueAt }: Queue, now: Date, room: QueueRoom): RawBuilder<unknown> {
  const [queue, due] = [sql.table(table), sql.ref(dueAt)]
  const { limit, slow, slowLimit, slowShare, ofOrganization, running } = room
  return sql`
    with recursive few as materialized (
      select org_id from ${queue} where ${due} <= ${now} order by ${due} limit ${FEW}
    ), walked (org_id) as (
      (select org_id from ${queue} where ${due} is not null and (select count(*) from few) = ${FEW}
        order by org_id limit 1)
      union all
      select (select org_id from ${queue} where ${due} is not null and org_id > walked.org_id order by org_id limit 1)
        from walked where org_id is not null
    ), owners as (
      select o.org_id, o.org_id = any(${slow}::uuid[]) as is_slow, coalesce(r.running, 0) as running
        from (select org_id from few union select org_id from walked where org_id is not null) as o
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
