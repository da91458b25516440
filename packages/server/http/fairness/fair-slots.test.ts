import { expect, test } from 'vitest'
import { FairSlots } from './fair-slots.ts'

const WAIT_MS = 60_000
const CALLS = 12

/** Lets calls use one slot again and again, as soon as they had it. Returns whose they were, in order. */
async function useInTurns(parties: readonly { tenant: string; organization: string }[]): Promise<string[]> {
  const slots = new FairSlots({ total: 1, perTenant: 1, perCaller: 1, waitingPerTenant: 100 })
  const order: string[] = []
  const call = async ({ tenant, organization }: { tenant: string; organization: string }): Promise<void> => {
    expect(await slots.acquire(tenant, `caller of ${tenant}`, WAIT_MS, organization)).toBe(true)
    if (order.push(tenant) < CALLS) await new Promise(resolve => setImmediate(resolve))
    slots.release(tenant, `caller of ${tenant}`, organization)
  }
  const repeat = async (party: (typeof parties)[number]): Promise<void> => {
    while (order.length < CALLS) await call(party)
  }
  await Promise.all(parties.map(repeat))
  return order.slice(0, CALLS)
}

test('an organization that always waits leaves every other turn to another one', async () => {
  const a = { tenant: 'a', organization: 'A' }
  const b = { tenant: 'b', organization: 'B' }
  const order = await useInTurns([a, a, a, a, b, b])
  expect(order.join('')).toMatch(/^aa?(?:ba)+b?$/)
})

test('a tenant that always waits leaves every other turn to another one of its organization', async () => {
  const a = { tenant: 'a', organization: 'A' }
  const b = { tenant: 'b', organization: 'A' }
  const order = await useInTurns([a, a, a, a, b, b])
  expect(order.join('')).toMatch(/^aa?(?:ba)+b?$/)
})

test('an organization has one turn, however many tenants it has', async () => {
  const a = ['a', 'b', 'c', 'd'].map(tenant => ({ tenant, organization: 'A' }))
  const o = { tenant: 'o', organization: 'O' }
  const order = await useInTurns([...a, o, o])
  expect(order.filter(tenant => tenant === 'o').length).toBeGreaterThanOrEqual(CALLS / 2 - 1)
})
