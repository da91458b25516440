import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { RequestRecord } from '../../core/records/request-record.ts'
import { type FreshDatabase, freshDatabase, listTestServers } from '../../testing/harness/database.ts'
import { insertRecords } from '../../testing/harness/insert-records.ts'
import { requestRecord } from '../../testing/harness/request-record.ts'
import {
  addEnvironment,
  addKey,
  addProject,
  addTree,
  newId,
  type Tree,
} from '../../testing/harness/storage-rows.ts'
import { inTenantScope } from '../tenant-scope.ts'
import { sumUsage, type UsageSelector, type UsageTotals } from './usage-totals.ts'

const NOW = Date.parse('2026-11-21T12:00:00Z')
const NOTHING = {
  requests: 0,
  served_requests: 0,
  input_tokens: 0,
  output_tokens: 0,
  cost_nano_usd: 0,
  last_at: null,
}

describe.each(listTestServers())('usage totals on $label', server => {
  let database: FreshDatabase
  let tree: Tree
  beforeAll(async () => {
    database = await freshDatabase(server)
  })
  afterAll(() => database.drop())
  beforeEach(async () => {
    tree = await addTree(database.db)
  })

  const insert = async (change: Partial<RequestRecord> = {}, at = NOW, environment = tree.environment) => {
    const record = requestRecord(environment, newId(), at, { sandbox: false, ...change })
    expect(await insertRecords(database.pool, [record])).toEqual({ rejected: [] })
  }
  const select = (change: Partial<UsageSelector> = {}): UsageSelector => ({
    id: newId(),
    org_id: tree.organization.id,
    ...change,
  })
  const sum = async (...selectors: UsageSelector[]): Promise<(UsageTotals | undefined)[]> => {
    const totals = await sumUsage(database.db, selectors)
    return selectors.map(({ id }) => totals.get(id))
  }
  const countRequests = async (...selectors: UsageSelector[]): Promise<(number | undefined)[]> =>
    (await sum(...selectors)).map(total => total?.requests)

  test('sum requests, tokens of every kind and cost, and tell the time of the newest request', async () => {
    await insert({ cost_nano_usd: 5 }, NOW - 1000)
    await insert({ cost_nano_usd: null })
    expect(await sum(select())).toEqual([
      {
        requests: 2,
        served_requests: 2,
        input_tokens: 32,
        output_tokens: 20,
        cost_nano_usd: 5,
        last_at: new Date(NOW),
      },
    ])
  })

  test('are zero without usage, and of no selector are none', async () => {
    expect(await sum(select())).toEqual([NOTHING])
    expect(await sumUsage(database.db, [])).toEqual(new Map())
  })

  test('count as served what was answered or generated anything', async () => {
    const none = { uncached_input_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0 }
    const empty = { ...none, output_tokens: 0, reasoning_tokens: 0 }
    await insert({ status: 200, ...empty })
    await insert({ status: 429, ...empty })
    await insert({ status: 502, ...none })
    const [totals] = await sum(select())
    expect(totals).toMatchObject({ requests: 3, served_requests: 2 })
  })

  test('begin at the given time, inclusive, and can leave sandbox requests out', async () => {
    await insert({}, NOW - 1)
    await insert({ sandbox: true })
    await insert()
    const since = new Date(NOW)
    expect(await countRequests(select(), select({ since }), select({ since, real_only: true }))).toEqual([
      3, 2, 1,
    ])
  })

  test('select the narrowest part that is given', async () => {
    const production = await addEnvironment(database.db, tree.project, { name: 'production' })
    const sibling = await addProject(database.db, tree.organization)
    const elsewhere = await addEnvironment(database.db, sibling)
    const stranger = await addTree(database.db)
    const { id: keyId } = await addKey(database.db, tree.environment)
    await insert({ key_id: keyId, end_user_id: 'alice' })
    await insert({ end_user_id: 'alice' }, NOW, production)
    await insert({}, NOW, elsewhere)
    await insert({ key_id: keyId }, NOW, stranger.environment)
    const project_id = tree.project.id
    const environment_id = tree.environment.id
    expect(
      await countRequests(
        select(),
        select({ project_id }),
        select({ project_id, environment_id }),
        select({ key_id: keyId }),
        select({ environment_id, end_user_id: 'alice' }),
        select({ environment_id, end_user_id: 'bob' }),
        select({ project_id: sibling.id }),
      ),
    ).toEqual([3, 2, 1, 1, 1, 0, 1])
  })

  test('of a key sum the requests of all keys that replaced one another', async () => {
    const first = await addKey(database.db, tree.environment)
    const second = await addKey(database.db, tree.environment, { original_id: first.id })
    for (const { id } of [first, second, second]) await insert({ key_id: id })
    expect(await countRequests(select({ key_id: first.id }))).toEqual([3])
  })

  test('are the same for equal selectors, each under its own id', async () => {
    await insert()
    const selectors = [select(), select(), select({ since: new Date(NOW + 1) })]
    expect(await countRequests(...selectors)).toEqual([1, 1, 0])
    expect((await sumUsage(database.db, selectors)).size).toBe(3)
  })

  test('are zero for another organization in a tenant scope', async () => {
    await insert()
    const stranger = await addTree(database.db)
    const selector = select()
    const totals = await inTenantScope(database.db, [stranger.organization.id], scoped =>
      sumUsage(scoped, [selector]),
    )
    expect(totals.get(selector.id)).toEqual(NOTHING)
  })
})
