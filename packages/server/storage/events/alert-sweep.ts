import { sql } from 'kysely'
import type { Pool } from 'pg'
import { CurrentWindows } from '../../core/limits/current-windows.ts'
import type { FixedMeter } from '../../core/limits/meter.ts'
import { ShortTicks } from '../../core/short-ticks.ts'
import { toBudgetRowMeter, toQuotaRowMeter } from '../policies/policy-meters.ts'
import type { Db } from '../pool.ts'
import { openUsageSnapshot } from '../usage/usage-seeds.ts'
import type { SettledMeter } from './alert-policies.ts'

/** Budgets or quotas that are read at once, and whose usage one statement sums. */
const PAGE_ROWS = 500
/** How long one organization may take in a sweep: its reads, and what is done with what they find. */
const MAX_READ_MS = 25_000
const FIRST_PAGE: PageStart = { table: 'budgets', after: '00000000-0000-0000-0000-000000000000' }

interface Organization {
  readonly id: string
  readonly time_zone: string
}

/** A page has the rules with greater ids. */
interface PageStart {
  readonly table: 'budgets' | 'quotas'
  readonly after: string
}

interface MeterPage {
  readonly meters: readonly FixedMeter[]
  readonly next: PageStart | undefined
}

interface AlertSweepOptions {
  /** Called at the end of a run in which organizations could not be read, with the error of the first one. */
  readonly onFailure?: (error: unknown, orgIds: readonly string[]) => void
  /** Milliseconds. */
  readonly now?: () => number
}

/**
 * Finds the budgets and quotas that have reached a threshold by the usage records of their windows. Quotas of the scope
 * default_end_user are left out: they have a meter for each end user. Rules are read in pages. An organization with more of them
 * than can be read and raised in MAX_READ_MS goes on in the next sweep where this one stops, so that it delays no other for longer.
 */
export class AlertSweep {
  readonly #storage: { readonly db: Db; readonly pool: Pool }
  readonly #onFailure: (error: unknown, orgIds: readonly string[]) => void
  readonly #now: () => number
  /** Where the next sweep goes on, by organization. */
  readonly #unread = new Map<string, PageStart>()
  /** Organizations of which a page was not read to its end: they are read again from the first one. */
  readonly #skipped = new Set<string>()

  constructor(
    storage: { readonly db: Db; readonly pool: Pool },
    { onFailure = () => {}, now = () => performance.now() }: AlertSweepOptions = {},
  ) {
    this.#storage = storage
    this.#onFailure = onFailure
    this.#now = now
  }

  /**
   * Yields the meters of the organizations that have usage since a time, or that the last sweep did not finish. `since`
   * undefined: of all organizations. `at`: Unix milliseconds. `again`: further organizations to read. One that cannot be read is read
   * again in the next run.
   */
  async *run(
    since: Date | undefined,
    at: number,
    again: readonly string[] = [],
  ): AsyncGenerator<SettledMeter> {
    for (const id of again) if (!this.#unread.has(id)) this.#unread.set(id, FIRST_PAGE)
    const failures: { readonly id: string; readonly error: unknown }[] = []
    const organizations = await listOrganizations(this.#storage.db, since, [...this.#unread.keys()])
    const listed = new Set(organizations.map(({ id }) => id))
    for (const id of this.#unread.keys())
      if (!listed.has(id)) {
        this.#unread.delete(id)
        this.#skipped.delete(id)
      }
    for (const organization of organizations) {
      try {
        yield* this.#listSettled(organization, at)
      } catch (error) {
        // One whose usage takes too long to read hides no alert of the others, and makes no later sweep read all of them again.
        failures.push({ id: organization.id, error })
        if (!this.#unread.has(organization.id)) this.#unread.set(organization.id, FIRST_PAGE)
      }
    }
    const [first] = failures
    if (first !== undefined)
      this.#onFailure(
        first.error,
        failures.map(({ id }) => id),
      )
  }

  async *#listSettled({ id, time_zone }: Organization, at: number): AsyncGenerator<SettledMeter> {
    const windows = new CurrentWindows(time_zone, at)
    let leftMs = MAX_READ_MS
    let start: PageStart | undefined = this.#unread.get(id) ?? FIRST_PAGE
    const hadSkipped = this.#skipped.has(id)
    do {
      const startedAt = this.#now()
      const page: MeterPage = await readPage(this.#storage.db, id, start, windows)
      start = page.next
      // Set before the usage is read: a page whose usage takes too long hides no page behind it.
      if (start === undefined) this.#unread.delete(id)
      else this.#unread.set(id, start)
      this.#skipped.add(id)
      try {
        const settled = await readSettled(this.#storage.pool, page.meters, at, leftMs)
        yield* settled
        leftMs -= this.#now() - startedAt
        if (!hadSkipped) this.#skipped.delete(id)
      } finally {
        if (start === undefined && this.#skipped.delete(id)) this.#unread.set(id, FIRST_PAGE)
      }
    } while (start !== undefined && leftMs > 0)
  }
}

/** Lists organizations that are not deleted and have usage since a time, if one is given, or are among `unread`. */
async function listOrganizations(
  db: Db,
  since: Date | undefined,
  unread: readonly string[],
): Promise<Organization[]> {
  let query = db.selectFrom('organizations').select(['id', 'time_zone']).where('deleted_at', 'is', null)
  if (since !== undefined) {
    query = query.where(
      sql<boolean>`(id = any(${unread}::uuid[]) or exists (select from usage_rollups r
        where r.org_id = organizations.id and r.span = 'hour' and r.bucket >= ${since}))`,
    )
  }
  return await query.execute()
}

/** Reads the next rules of an organization. After the budgets come the quotas. */
async function readPage(
  db: Db,
  orgId: string,
  { table, after }: PageStart,
  windows: CurrentWindows,
): Promise<MeterPage> {
  if (table === 'budgets') {
    const budgets = await db
      .selectFrom('budgets')
      .selectAll()
      .where('org_id', '=', orgId)
      .where('id', '>', after)
      .where(sql<boolean>`cardinality(alert_pcts) > 0`)
      .orderBy('id')
      .limit(PAGE_ROWS)
      .execute()
    const meters = await mapInTicks(budgets, row => toBudgetRowMeter(row, windows))
    return { meters, next: nextPage(table, budgets) ?? { ...FIRST_PAGE, table: 'quotas' } }
  }
  const quotas = await db
    .selectFrom('quotas')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('id', '>', after)
    .where('grace_pct', '>', 0)
    .where('scope', '!=', 'default_end_user')
    .orderBy('id')
    .limit(PAGE_ROWS)
    .execute()
  return {
    meters: await mapInTicks(quotas, row => toQuotaRowMeter(row, windows)),
    next: nextPage(table, quotas),
  }
}

function nextPage(
  table: PageStart['table'],
  rows: readonly { readonly id: string }[],
): PageStart | undefined {
  const last = rows.length < PAGE_ROWS ? undefined : rows.at(-1)
  return last === undefined ? undefined : { table, after: last.id }
}

async function mapInTicks<Row>(
  rows: readonly Row[],
  toMeter: (row: Row) => FixedMeter,
): Promise<FixedMeter[]> {
  const ticks = new ShortTicks()
  const meters: FixedMeter[] = []
  for (const row of rows) {
    if (ticks.isOver) await ticks.next()
    meters.push(toMeter(row))
  }
  return meters
}

/** Returns those of the meters that have reached a threshold. */
async function readSettled(
  pool: Pool,
  meters: readonly FixedMeter[],
  at: number,
  timeoutMs: number,
): Promise<SettledMeter[]> {
  if (meters.length === 0) return []
  const snapshot = await openUsageSnapshot(pool, timeoutMs)
  const seeds = await snapshot.listSeeds(meters, at, []).finally(() => snapshot.close())
  return meters
    .map((meter, index) => ({ meter, settled: seeds[index]?.used ?? 0 }))
    .filter(({ meter, settled }) => meter.alertThresholds.some(amount => amount <= settled))
}
