import { type RawBuilder, sql } from 'kysely'
import type { QueueRoom } from '../core/queue-room.ts'

/**
 * SQL: the items of a queue in turns of organizations. `due` selects `id`, `org_id` and `due_at` of those that are due. The turn of an
 * item counts those of its organization that run already or come before it; its place counts among slow or other organizations.
 */
export function inTurns(due: RawBuilder<unknown>, { slow, running }: QueueRoom): RawBuilder<unknown> {
  return sql`select *, row_number() over (partition by is_slow order by turn, due_at, id) as place from (
    select d.*, d.org_id = any(${slow}::uuid[]) as is_slow,
      coalesce(r.running, 0) + row_number() over (partition by d.org_id order by d.due_at, d.id) as turn
    from (${due}) as d
    left join unnest(${[...running.keys()]}::uuid[], ${[...running.values()]}::integer[]) as r(org_id, running)
      on r.org_id = d.org_id
  ) as d`
}

/** SQL: the item `turns` may run now. */
export function hasRoom({ ofOrganization, slowLimit }: QueueRoom): RawBuilder<boolean> {
  return sql<boolean>`turns.turn <= ${ofOrganization} and (not turns.is_slow or turns.place <= ${slowLimit})`
}

/** SQL: who comes first. Slow organizations come last, but a few of their items do not, so that others cannot keep them waiting for ever. */
export function turnOrder({ slowShare }: QueueRoom): RawBuilder<unknown> {
  return sql`(turns.is_slow and turns.place > ${slowShare}), turns.turn, turns.due_at, turns.id`
}
