import { toRecordLine } from '../core/records/record-line.ts'
import type { RecordLine, RequestRecord } from '../core/records/request-record.ts'
import { calendarBoundsAt } from '../core/tenancy/windows.ts'
import { insertRequestRecords } from '../storage/records/request-logs.ts'
import { createAuditEntries } from './demo-audit.ts'
import type { DemoDeps } from './demo-deps.ts'
import { createPeople, DEMO_TIME_ZONE } from './demo-people.ts'
import { createEndUsers, createOperations, createPolicies, type MonthUse } from './demo-policies.ts'
import { createProjects } from './demo-projects.ts'
import { toTraffic } from './demo-traffic.ts'

/** Large batches: the rollups of a batch are added by one statement, so a batch of many hours' records touches each row once. */
const BATCH_RECORDS = 4_000
/** Batches that are written at a time. Only at their edges do they add to the same rows of rollups. */
const WRITERS = 2

export interface DemoOptions {
  readonly rows: number
  readonly password: string
  readonly auditEntries?: number
  /** Called with the part of the records that is stored, from 0 to 1. */
  readonly onProgress?: (done: number) => void
}

/** What only the demo's start shows. */
export interface DemoSecrets {
  readonly invitationToken: string
  readonly developmentKey: string
}

/** Fills a new database with an organization and 90 days of its traffic, which end now. */
export async function fillDemo(deps: DemoDeps, options: DemoOptions): Promise<DemoSecrets> {
  const { organization, userIds, invitationToken } = await createPeople(deps, options.password)
  const orgId = organization.id
  const { chat, tools, sources, developmentKey } = await createProjects(deps, orgId)
  const scene = { orgId, chat, tools, sources }
  await createEndUsers(deps, scene)
  const use = await writeRecords(
    deps,
    options,
    toTraffic({
      sources,
      now: deps.clock.now(),
      rows: options.rows,
      timeZone: DEMO_TIME_ZONE,
    }),
  )
  await createPolicies(deps, scene, use)
  await createOperations(deps, scene, userIds[0] ?? '')
  await createAuditEntries(deps, orgId, userIds, options.auditEntries ?? 2_000)
  await analyzeTables(deps)
  return { invitationToken, developmentKey }
}

/**
 * Gives the planner statistics of what was written. One statement a table: one of all tables can take longer than the pool lets a
 * query take, where the machine is busy.
 */
async function analyzeTables({ pool }: Pick<DemoDeps, 'pool'>): Promise<void> {
  const { rows } = await pool.query<{ name: string }>(
    `select oid::regclass::text as name from pg_class
      where relkind in ('r', 'p') and not relispartition and relnamespace = current_schema()::regnamespace`,
  )
  for (const { name } of rows) await pool.query(`analyze ${name}`)
}

async function writeRecords(
  deps: DemoDeps,
  { rows, onProgress }: DemoOptions,
  records: Generator<RequestRecord>,
): Promise<MonthUse> {
  const { start } = calendarBoundsAt('month', deps.clock.now(), DEMO_TIME_ZONE)
  const use = { nanoUsd: new Map<string, number>(), requests: new Map<string, number>() }
  let done = 0
  const takeBatch = (): RecordLine[] => {
    const lines: RecordLine[] = []
    while (lines.length < BATCH_RECORDS) {
      const { value } = records.next()
      if (value === undefined) break
      if (Date.parse(value.at) >= start) addUse(use, value)
      lines.push(toRecordLine(value))
    }
    return lines
  }
  const write = async (): Promise<void> => {
    for (let lines = takeBatch(); lines.length > 0; lines = takeBatch()) {
      const { rejected } = await insertRequestRecords(deps.pool, lines)
      const [first] = rejected
      if (first !== undefined) throw new Error(`a record was refused: ${first.reason}`)
      done += lines.length
      onProgress?.(done / rows)
    }
  }
  await Promise.all(Array.from({ length: WRITERS }, write))
  return use
}

function addUse(
  { nanoUsd, requests }: { nanoUsd: Map<string, number>; requests: Map<string, number> },
  record: RequestRecord,
): void {
  for (const id of [record.org_id, record.project_id, record.environment_id, record.key_id ?? '']) {
    requests.set(id, (requests.get(id) ?? 0) + 1)
    // The sandbox's prices are made up, and no organization's spend counts them.
    nanoUsd.set(id, (nanoUsd.get(id) ?? 0) + (record.cost_nano_usd ?? 0))
  }
}
