import { sql } from 'kysely'
import { ShortTicks } from '../../core/short-ticks.ts'
import type { Policies } from '../../core/tenancy/policies.ts'
import type { Db } from '../pool.ts'
import { POLICY_PARTS, type PolicyParts, toPolicies } from '../snapshots/policy-snapshots.ts'

/** Every limit, quota, budget and plan that may bind requests of the environment, as the gateway reads them. */
export async function findEnvironmentPolicies(db: Db, environmentId: string): Promise<Policies | undefined> {
  const { rows } = await sql<PolicyParts>`
    select ${sql.raw(POLICY_PARTS)} from environments e join organizations o on o.id = e.org_id
    where e.id = ${environmentId}`.execute(db)
  return rows[0] === undefined ? undefined : await toPolicies(rows[0], new ShortTicks())
}
