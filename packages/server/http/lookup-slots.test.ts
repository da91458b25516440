import { expect, test } from 'vitest'
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
