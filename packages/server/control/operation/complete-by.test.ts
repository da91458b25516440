import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type ControlPlane, openControlPlane, type Tenant } from '../../testing/harness/control-plane.ts'
import { insertRecords } from '../../testing/harness/insert-records.ts'
import { requestRecord } from '../../testing/harness/request-record.ts'

const DAY_MS = 86_400_000

/** What the counters of the gateway hold; undefined: none can be read. */
let counted: { settled: number; reserved: number } | undefined
let whenCommitted: () => Promise<void>
/** Has access to the counters of a gateway. */
let withGateway: ControlPlane
/** The same deployment's, without a gateway. */
let alone: ControlPlane
let tenant: Tenant
let key: string
beforeAll(async () => {
  const afterWrite = () => whenCommitted()
  const readMeters = async (meters: readonly unknown[]) =>
    counted === undefined ? undefined : meters.map(() => counted as { settled: number; reserved: number })
  withGateway = await openControlPlane({ afterWrite, readMeters })
  const { clock, newId } = withGateway
  alone = await openControlPlane({ db: withGateway.database.db, clock, newId, afterWrite })
})
afterAll(async () => {
  await alone.close()
  await withGateway.close()
})
beforeEach(async () => {
  counted = { settled: 5_000_000_000, reserved: 1_000_000_000 }
  whenCommitted = async () => {}
  tenant = await withGateway.insertTenant('acme')
  key = tenant.keys.admin
})

/** Inserts a request of 1 dollar that ended now, or that long ago. */
async function spend(agoMs = 0): Promise<void> {
  const { database, newId, clock } = withGateway
  const fields = { cost_nano_usd: 1_000_000_000, sandbox: false }
  const record = requestRecord(tenant.development, newId(), clock.now() - agoMs, fields)
  await insertRecords(database.pool, [record])
}

interface Rule {
  readonly id: string
  readonly used?: number | null
  readonly reserved?: number | null
  readonly spent_usd?: number
  readonly reserved_usd?: number | null
  readonly projected_usd?: number | null
}

const kinds = [
  ['limits', { scope: 'environment', metric: 'requests', limit: 10, window_seconds: 60 }],
  ['quotas', { scope: 'environment', metric: 'requests', limit: 10, window: 'month' }],
  ['budgets', { limit_usd: 10, window: 'month' }],
] as const
type Kind = (typeof kinds)[number][0]

async function write(plane: ControlPlane, kind: Kind, body: object, id?: string): Promise<Rule> {
  const owner = kind === 'budgets' ? `projects/${tenant.project.id}` : `environments/${tenant.development.id}`
  const [method, path] = id === undefined ? ['POST', `/v1/${owner}/${kind}`] : ['PATCH', `/v1/${kind}/${id}`]
  const answer = await plane.call<Rule>(method as string, path as string, { key, body })
  expect([200, 201]).toContain(answer.status)
  return answer.json
}

const figuresOf = ({ used, reserved, spent_usd, reserved_usd }: Rule) => [
  used ?? spent_usd ?? null,
  reserved ?? reserved_usd ?? null,
]

test.each(kinds)(
  'the answer of a write of %s has the figures of the counter, and the settings that it wrote',
  async (kind, body) => {
    const shown = kind === 'budgets' ? [5, 1] : [5_000_000_000, 1_000_000_000]
    const made = await write(withGateway, kind, body)
    expect(figuresOf(made)).toEqual(shown)
    whenCommitted = async () => {
      whenCommitted = async () => {}
      const change = kind === 'budgets' ? { limit_usd: 3 } : { limit: 3 }
      await write(withGateway, kind, change, made.id)
    }
    const change = kind === 'budgets' ? { limit_usd: 2 } : { limit: 2 }
    const changed = await write(withGateway, kind, change, made.id)
    expect([changed, figuresOf(changed)]).toEqual([expect.objectContaining(change), shown])
  },
)

test('what is likely to be spent is estimated once, by the write', async () => {
  await spend(DAY_MS)
  const before = await write(withGateway, 'budgets', { limit_usd: 10, window: 'month' })
  whenCommitted = () => spend(2 * DAY_MS)
  const { spent_usd, projected_usd } = await write(withGateway, 'budgets', { limit_usd: 9 }, before.id)
  expect(spent_usd).toBe(5)
  expect(projected_usd).toBeGreaterThan(0)
  expect(projected_usd).toBe(before.projected_usd)
})

test.each(kinds)('without a gateway a write of %s reads its figures once', async (kind, body) => {
  await spend()
  whenCommitted = () => spend()
  const shown = kind === 'limits' ? null : 1
  expect(figuresOf(await write(alone, kind, body))).toEqual([shown, null])
})

test('a rule that was removed meanwhile is answered as it was written', async () => {
  whenCommitted = async () => {
    await withGateway.database.db.deleteFrom('limits').execute()
  }
  expect(figuresOf(await write(withGateway, 'limits', kinds[0][1]))).toEqual([null, null])
})
