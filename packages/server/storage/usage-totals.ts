import { sql } from 'kysely'
import type { Db } from './pool.ts'

/** What was used since a moment by an organization, or by a part of it: the narrowest that is named. */
export interface UsageQuestion {
  /** Names the answer. */
  readonly id: string
  readonly org_id: string
  readonly project_id?: string | null
  readonly environment_id?: string | null
  readonly key_id?: string | null
  /** As the caller names it; needs environment_id. */
  readonly end_user_id?: string | null
  /** Inclusive; absent: from the first request on. */
  readonly since?: Date
  /** Leaves out what the sandbox answered. */
  readonly real_only?: boolean
}

export interface UsageTotals {
  readonly requests: number
  /** Without those that were refused or failed before anything was generated: they consume no quota. */
  readonly served_requests: number
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cost_nano_usd: number
  /** When the newest request arrived. */
  readonly last_at: Date | null
}

const COLUMNS = sql`u.at, u.status, u.cost_nano_usd,
  u.uncached_input_tokens::bigint + u.cache_read_tokens + u.cache_write_tokens as input,
  u.output_tokens::bigint + u.reasoning_tokens as output`

/**
 * Sums the usage ledger for many questions by one statement. What a key or an end user used is found by an index of
 * its own; all else by the index of the environments that it covers. Keys of the answer are the questions' ids.
 */
export async function sumUsage(
  db: Db,
  questions: readonly UsageQuestion[],
): Promise<ReadonlyMap<string, UsageTotals>> {
  // Many a limit asks the same: a whole environment in its month is summed once.
  const askedBy = new Map(questions.map(question => [toAsked(question), question.id]))
  const totals = await sumEach(
    db,
    questions.filter(question => askedBy.get(toAsked(question)) === question.id),
  )
  return new Map(
    questions.flatMap(question => {
      const sum = totals.get(askedBy.get(toAsked(question)) as string)
      return sum === undefined ? [] : [[question.id, sum] as const]
    }),
  )
}

function toAsked({ id: _, ...asked }: UsageQuestion): string {
  return JSON.stringify(asked)
}

async function sumEach(db: Db, questions: readonly UsageQuestion[]): Promise<Map<string, UsageTotals>> {
  if (questions.length === 0) return new Map()
  const { rows } = await sql<UsageTotals & { id: string }>`
    select q.id, t.* from json_to_recordset(${JSON.stringify(questions)}::json) as q(
      id uuid, org_id uuid, project_id uuid, environment_id uuid, key_id uuid, end_user_id text, since timestamptz,
      real_only boolean)
    cross join lateral (
      select count(*) as requests,
        count(*) filter (where status < 400 or input + output > 0) as served_requests,
        coalesce(sum(input), 0)::bigint as input_tokens,
        coalesce(sum(output), 0)::bigint as output_tokens,
        coalesce(sum(cost_nano_usd), 0)::float8 as cost_nano_usd,
        max(at) as last_at
      from (
        select ${COLUMNS} from usage_records u
          where q.key_id is not null and u.key_id = q.key_id and u.org_id = q.org_id
            and u.at >= coalesce(q.since, '-infinity') and not (u.sandbox and q.real_only is true)
        union all
        select ${COLUMNS} from usage_records u
          where q.key_id is null and q.end_user_id is not null
            and u.environment_id = q.environment_id and u.end_user_id = q.end_user_id
            and u.at >= coalesce(q.since, '-infinity') and not (u.sandbox and q.real_only is true)
        union all
        select ${COLUMNS} from environments e join usage_records u on u.environment_id = e.id
          where q.key_id is null and q.end_user_id is null and e.org_id = q.org_id
            and (q.project_id is null or e.project_id = q.project_id)
            and (q.environment_id is null or e.id = q.environment_id)
            and u.at >= coalesce(q.since, '-infinity') and not (u.sandbox and q.real_only is true)
      ) as used
    ) as t`.execute(db)
  return new Map(rows.map(({ id, ...totals }) => [id, totals]))
}
