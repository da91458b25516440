import { describe, expect, test } from 'vitest'
import { type LookupOwner, LookupSlots } from './lookup-slots.ts'

const BOUNDS = { total: 32, perTenant: 2, perCaller: 1, waitingPerTenant: 2 }
const LONG_MS = 60_000

const owner = (tenant: string, endUser?: string): LookupOwner => ({
  environment: { id: tenant },
  caller: { keyId: 'key' },
  endUser: endUser === undefined ? undefined : { id: endUser },
})

/** Notes who got a slot, in order. */
function collect(slots: LookupSlots): { readonly log: string[]; acquire(who: LookupOwner): void } {
  const log: string[] = []
  return {
    log,
    acquire: who =>
      void slots
        .acquire(who, LONG_MS)
        .then(hasSlot => log.push(`${who.environment?.id} ${who.endUser?.id} ${hasSlot}`)),
  }
}

const settle = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

test('a caller above his bound waits, while another caller of his tenant gets a slot', async () => {
  const slots = new LookupSlots(BOUNDS)
  const { log, acquire } = collect(slots)
  acquire(owner('a', 'u1'))
  acquire(owner('a', 'u1'))
  acquire(owner('a', 'u2'))
  await settle()
  expect(log).toEqual(['a u1 true', 'a u2 true'])
  slots.release(owner('a', 'u1'))
  await settle()
  expect(log).toEqual(['a u1 true', 'a u2 true', 'a u1 true'])
})

test('a tenant above its bound waits, while another tenant gets a slot', async () => {
  const slots = new LookupSlots(BOUNDS)
  const { log, acquire } = collect(slots)
  for (const user of ['u1', 'u2', 'u3']) acquire(owner('a', user))
  acquire(owner('b', 'u1'))
  await settle()
  expect(log).toEqual(['a u1 true', 'a u2 true', 'b u1 true'])
})

test('a freed slot goes to the tenant that has the fewest, not to the one that waits longest', async () => {
  const slots = new LookupSlots({ ...BOUNDS, total: 3 })
  const { log, acquire } = collect(slots)
  for (const tenant of ['a', 'b', 'c', 'a', 'd']) acquire(owner(tenant, 'u'))
  await settle()
  expect(log).toEqual(['a u true', 'b u true', 'c u true'])
  slots.release(owner('b', 'u'))
  await settle()
  expect(log.at(-1)).toBe('d u true')
})

test('tenants that want all they can get leave slots to one that comes later', async () => {
  const slots = new LookupSlots({ total: 64, perTenant: 8, perCaller: 8, waitingPerTenant: 100 })
  const { log, acquire } = collect(slots)
  for (let n = 0; n < 1_000; n++) acquire(owner(`greedy ${n % 20}`))
  await settle()
  expect(log.filter(line => line.endsWith('true')).length).toBeLessThan(60)
  acquire(owner('late'))
  await settle()
  expect(log.at(-1)).toBe('late undefined true')
})

test('more than the bound of waiting lookups of a tenant get no slot at once', async () => {
  const slots = new LookupSlots(BOUNDS)
  const { log, acquire } = collect(slots)
  for (let n = 0; n < 5; n++) acquire(owner('a'))
  await settle()
  expect(log).toEqual(['a undefined true', 'a undefined false', 'a undefined false'])
})

test('a lookup that waits too long gets no slot, and its place is free again', async () => {
  const slots = new LookupSlots(BOUNDS)
  expect(await slots.acquire(owner('a'), LONG_MS)).toBe(true)
  for (let n = 0; n < 4; n++) expect(await slots.acquire(owner('a'), 1)).toBe(false)
  slots.release(owner('a'))
  expect(await slots.acquire(owner('a'), LONG_MS)).toBe(true)
})

describe('an organization with hundreds of environments', () => {
  const bounds = {
    ...BOUNDS,
    total: 512,
    perTenant: 32,
    perCaller: 32,
    perOrganization: 96,
    waitingPerOrganization: 64,
  }
  const of = (orgId: string, id: string): LookupOwner => ({
    environment: { id, orgId },
    caller: undefined,
    endUser: undefined,
  })

  test('gets a part of the slots, and others get theirs at once', async () => {
    const slots = new LookupSlots({ ...bounds, waitingPerOrganization: 10_000 })
    const { log, acquire } = collect(slots)
    for (let n = 0; n < 2000; n++) acquire(of('greedy', `e${n}`))
    await settle()
    expect(log).toHaveLength(96)
    for (let n = 0; n < 50; n++) acquire(of(`late ${n}`, `of late ${n}`))
    await settle()
    expect(log).toHaveLength(146)
    expect(log.at(-1)).toBe('of late 49 undefined true')
  })

  test('has its next slot when one of its own is free, at the environment that has the fewest', async () => {
    const slots = new LookupSlots({ ...bounds, total: 8, perTenant: 8, waitingPerTenant: 10 })
    const { log, acquire } = collect(slots)
    for (const id of ['e1', 'e1', 'e2', 'e3']) acquire(of('o', id))
    await settle()
    const before = log.length
    expect(before).toBeLessThan(4)
    slots.release(of('o', 'e1'))
    await settle()
    expect(log).toHaveLength(before + 1)
  })

  test('gets none at once for more than the bound that may wait', async () => {
    const slots = new LookupSlots(bounds)
    const { log, acquire } = collect(slots)
    for (let n = 0; n < 500; n++) acquire(of('greedy', `e${n}`))
    await settle()
    expect(log.filter(line => line.endsWith('false'))).toHaveLength(500 - 96 - 64)
  })
})
