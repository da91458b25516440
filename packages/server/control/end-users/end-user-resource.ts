import { toUsd } from '@rideau/llm/usage/money'
import type { EndUserWithPlanRow } from '../../storage/end-users/end-users.ts'
import { sumUsage, type UsageTotals } from '../../storage/usage/usage-totals.ts'
import { dateTime, environmentIds, stamps, toDateTime, toStamps } from '../operation/fields.ts'
import type { Services } from '../operation/operation.ts'
import { storedFields } from '../operation/stored-fields.ts'
import { z } from '../operation/zod.ts'

export const EndUserResource = z
  .strictObject({
    ...environmentIds,
    external_id: z.string(),
    plan: z
      .string()
      .nullable()
      .meta({ description: "The plan's name; null: the default plan, if there is one." }),
    attributes: z.record(z.string(), z.unknown()),
    blocked_at: dateTime.nullable(),
    last_seen_at: dateTime.nullable(),
    usage: z
      .strictObject({
        requests: z.int(),
        input_tokens: z.int(),
        output_tokens: z.int(),
        cost_usd: z.number(),
      })
      .meta({ description: 'To date.' }),
    ...stamps,
  })
  .meta({ id: 'EndUser' })

/** An end user with its usage according to the ledger. */
export interface MeasuredEndUser extends EndUserWithPlanRow {
  readonly totals: UsageTotals | undefined
}

export async function measureEndUsers(
  { db }: Pick<Services, 'db'>,
  rows: readonly EndUserWithPlanRow[],
): Promise<MeasuredEndUser[]> {
  const totals = await sumUsage(
    db,
    rows.map(({ id, org_id, environment_id, external_id }) => ({
      id,
      org_id,
      environment_id,
      end_user_id: external_id,
    })),
  )
  return rows.map(row => ({ ...row, totals: totals.get(row.id) }))
}

export function toEndUserResource({ totals, ...row }: MeasuredEndUser): z.output<typeof EndUserResource> {
  return {
    ...toEndUserRecord(row),
    last_seen_at: toDateTime(totals?.last_at ?? null),
    usage: {
      requests: totals?.requests ?? 0,
      input_tokens: totals?.input_tokens ?? 0,
      output_tokens: totals?.output_tokens ?? 0,
      cost_usd: toUsd(totals?.cost_nano_usd ?? 0) ?? 0,
    },
  }
}

/** Returns the settings of an end user without its usage. */
export function toEndUserRecord(row: EndUserWithPlanRow) {
  return {
    ...storedFields(EndUserResource, row),
    blocked_at: toDateTime(row.blocked_at),
    ...toStamps(row),
  }
}
