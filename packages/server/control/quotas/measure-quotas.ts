import { windowAt } from '../../core/windows.ts'
import { findOrganization } from '../../storage/organizations.ts'
import type { QuotaRow } from '../../storage/policy-tables.ts'
import { sumUsage, type UsageQuestion } from '../../storage/usage-totals.ts'
import type { Services } from '../operation.ts'
import { orGone } from '../or-gone.ts'

/** `used` is null where every end user has the quota for itself. */
export type MeasuredQuota = QuotaRow & { readonly used: number | null; readonly resets_at: Date }

/** Quotas of one organization with what the ledger says was used of each: the whole window, also before its creation. */
export async function measureQuotas(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  orgId: string,
  rows: readonly QuotaRow[],
): Promise<MeasuredQuota[]> {
  const { time_zone } = orGone(await findOrganization(db, orgId))
  const now = clock.now()
  const spanOf = ({ window }: QuotaRow) => windowAt(window, now, time_zone)
  const questions = rows
    .filter(row => row.scope !== 'default_end_user')
    .map(row => toQuestion(row, new Date(spanOf(row).start)))
  const totals = await sumUsage(db, questions)
  return rows.map(row => {
    const sum = totals.get(row.id)
    const tokens = sum === undefined ? null : sum.input_tokens + sum.output_tokens
    const used = row.metric === 'tokens' ? tokens : (sum?.served_requests ?? null)
    return { ...row, used, resets_at: new Date(spanOf(row).end) }
  })
}

export async function measureQuota(
  services: Pick<Services, 'db' | 'clock'>,
  row: QuotaRow,
): Promise<MeasuredQuota> {
  const [measured] = await measureQuotas(services, row.org_id, [row])
  return measured as MeasuredQuota
}

function toQuestion(row: QuotaRow, since: Date): UsageQuestion {
  const { id, org_id, environment_id } = row
  return {
    id,
    org_id,
    environment_id,
    key_id: row.scope === 'key' ? row.scope_ref : null,
    end_user_id: row.scope === 'end_user' ? row.scope_ref : null,
    since,
  }
}
