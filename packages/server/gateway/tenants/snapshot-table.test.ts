import { setImmediate as immediate } from 'node:timers/promises'
import { afterEach, expect, test, vi } from 'vitest'
import type { Caller, EndUser, Environment } from '../../core/tenancy/tenancy.ts'
import { SnapshotTable } from './snapshot-table.ts'

const BOUNDS = { maxKeys: 1000, maxTokens: 2, maxEndUsers: 2, maxBytes: 64 * 1024 }

function environment(id: string, orgId = `org of ${id}`): Environment {
  return { id, orgId } as Environment
}

function tenant(of: Environment, allowedModels: readonly string[] = []) {
  return { caller: { allowedModels } as unknown as Caller, environment: of }
}

const endUser = { id: 'u', plan: null, isBlocked: false } as EndUser

test('a dropped environment takes its own tenants and end users with it, and no others', () => {
  const table = new SnapshotTable(BOUNDS)
  const [one, other] = [environment('e1', 'o'), environment('e2', 'o')]
  table.keepKey('k1', tenant(one))
  table.keepToken('t1', tenant(one))
  table.keepEndUser(one, 'u', endUser)
  table.keepKey('k2', tenant(other))
  table.keepEndUser(other, 'u', endUser)
  table.drop('e1')
  expect([table.findTenant('k1'), table.findTenant('t1'), table.findEndUser('e1', 'u')]).toEqual(
    Array(3).fill(undefined),
  )
  expect(table.findTenant('k2')?.environment).toBe(other)
  expect(table.findEndUser('e2', 'u')).toBe(endUser)
  table.drop('e2')
  expect(table.bytes).toBe(0)
})

afterEach(() => void vi.restoreAllMocks())

/** Returns how many entries of maps and sets are removed one by one when an environment with so many of each is dropped. */
function countRemovals(size: number): number {
  const table = new SnapshotTable({ ...BOUNDS, maxTokens: size, maxEndUsers: size, maxBytes: 1e9 })
  const one = environment('e')
  for (let at = 0; at < size; at++) {
    table.keepToken(`t${at}`, tenant(one))
    table.keepEndUser(one, `u${at}`, endUser)
  }
  const removals = [vi.spyOn(Map.prototype, 'delete'), vi.spyOn(Set.prototype, 'delete')]
  table.drop('e')
  const count = removals.reduce((sum, { mock }) => sum + mock.calls.length, 0)
  vi.restoreAllMocks()
  expect(table.findTenant('t0') ?? table.findEndUser('e', 'u0')).toBeUndefined()
  return count
}

test('dropping an environment takes no longer with thousands of tenants and end users than with few', () => {
  expect(countRemovals(5_000)).toBe(countRemovals(5))
})

test('what was dropped gives way before what was loaded since, and takes none of that with it', () => {
  const table = new SnapshotTable({ ...BOUNDS, maxTokens: 4, maxEndUsers: 4 })
  const [one, other] = [environment('e', 'o'), environment('other', 'o')]
  for (const id of ['1', '2', '3', '4']) {
    table.keepToken(id, tenant(one))
    table.keepEndUser(one, id, endUser)
  }
  table.drop('e')
  expect(table.bytes).toBe(0)
  const renewed = environment('e', 'o')
  table.keepToken('1', tenant(renewed))
  table.keepEndUser(renewed, '1', endUser)
  for (const id of ['5', '6', '7']) {
    table.keepToken(id, tenant(other))
    table.keepEndUser(other, id, endUser)
  }
  expect(table.findTenant('1')?.environment).toBe(renewed)
  expect(table.findTenant('2') ?? table.findEndUser('e', '2')).toBeUndefined()
  expect(table.findEndUser('e', '1')).toBe(endUser)
  expect(['5', '6', '7'].map(id => table.findEndUser('other', id))).toEqual(Array(3).fill(endUser))
  table.drop('e')
  expect(table.findTenant('1') ?? table.findEndUser('e', '1')).toBeUndefined()
  table.drop('other')
  expect(table.bytes).toBe(0)
})

test('an environment is loaded once while it is in memory, and again after a failed load', async () => {
  const table = new SnapshotTable(BOUNDS)
  let loads = 0
  const load = async (id: string): Promise<Environment> => {
    if (++loads === 1) throw new Error('away')
    return environment(id)
  }
  await expect(table.environment('e', load)).rejects.toThrow('away')
  const [first, second] = [await table.environment('e', load), await table.environment('e', load)]
  expect(second).toBe(first)
  expect(loads).toBe(2)
  table.drop('e')
  expect(await table.environment('e', load)).not.toBe(first)
})

test('the oldest token and end user give way to a new one, and their bytes are given back', () => {
  const table = new SnapshotTable(BOUNDS)
  const one = environment('e')
  for (const hash of ['t1', 't2']) table.keepToken(hash, tenant(one))
  const before = table.bytes
  table.keepToken('t3', tenant(one))
  for (const id of ['u1', 'u2', 'u3']) table.keepEndUser(one, id, endUser)
  expect(table.bytes).toBe(before)
  expect([table.findTenant('t1'), table.findEndUser('e', 'u1')]).toEqual([undefined, undefined])
  expect(table.findTenant('t2') ?? table.findEndUser('e', 'u2')).toBeDefined()
})

test('an organization with many tokens and end users pushes out its own only, in however many environments', () => {
  const table = new SnapshotTable({ ...BOUNDS, maxTokens: 8, maxEndUsers: 8 })
  const honest = environment('honest')
  for (const hash of ['h1', 'h2']) table.keepToken(hash, tenant(honest))
  for (const id of ['u1', 'u2']) table.keepEndUser(honest, id, endUser)
  for (let at = 0; at < 100; at++) {
    const own = environment(`e${at % 20}`, 'greedy')
    table.keepToken(`t${at}`, tenant(own))
    table.keepEndUser(own, `u${at}`, endUser)
  }
  expect([table.findTenant('h1'), table.findTenant('h2')].every(kept => kept?.environment === honest)).toBe(
    true,
  )
  expect([table.findEndUser('honest', 'u1'), table.findEndUser('honest', 'u2')]).toEqual([endUser, endUser])
  const kept = Array.from({ length: 100 }, (_, at) => at)
  expect(kept.filter(at => table.findTenant(`t${at}`) !== undefined)).toEqual([94, 95, 96, 97, 98, 99])
  expect(kept.filter(at => table.findEndUser(`e${at % 20}`, `u${at}`) !== undefined)).toHaveLength(6)
})

test('an environment that does not exist is looked up again, and leaves nothing', async () => {
  const table = new SnapshotTable(BOUNDS)
  const load = (found: Environment | undefined) => table.environment('e', async () => found)
  expect(await load(undefined)).toBeUndefined()
  await immediate()
  expect((await load(environment('e')))?.id).toBe('e')
})

test('a kept tenant that replaces an earlier one of the same credential counts once', () => {
  const table = new SnapshotTable(BOUNDS)
  const one = environment('e')
  table.keepKey('k', tenant(one, ['x'.repeat(100)]))
  const before = table.bytes
  table.keepKey('k', tenant(one, ['x'.repeat(100)]))
  expect(table.bytes).toBe(before)
})

test('an organization with long lists pushes out its own environments only, and memory stays bounded', () => {
  const table = new SnapshotTable(BOUNDS)
  const honest = environment('honest')
  table.keepKey('honest key', tenant(honest))
  for (let at = 0; at < 500; at++) {
    const own = environment(`e${at % 50}`, 'greedy')
    table.keepKey(`k${at}`, tenant(own, ['x'.repeat(4000)]))
    expect(table.bytes).toBeLessThanOrEqual(BOUNDS.maxBytes)
  }
  expect(table.findTenant('honest key')?.environment).toBe(honest)
})

test('many small organizations push out those that were loaded first', () => {
  const table = new SnapshotTable(BOUNDS)
  for (let at = 0; at < 100; at++) table.keepKey(`k${at}`, tenant(environment(`e${at}`), ['x'.repeat(1000)]))
  expect(table.bytes).toBeLessThanOrEqual(BOUNDS.maxBytes)
  expect(table.findTenant('k0')).toBeUndefined()
  expect(table.findTenant('k99')).toBeDefined()
})

test('a large environment makes room for itself once it is loaded', async () => {
  const table = new SnapshotTable(BOUNDS)
  table.keepKey('k', tenant(environment('small')))
  const large = { ...environment('large'), allowedModels: ['x'.repeat(20_000)] } as Environment
  await table.environment('large', async () => large)
  await immediate()
  expect(table.bytes).toBeGreaterThan(40_000)
  await table.environment('larger', async id => ({ ...large, id, orgId: 'another' }) as Environment)
  await immediate()
  expect(table.bytes).toBeLessThanOrEqual(BOUNDS.maxBytes)
})
