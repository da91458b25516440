import { expect, test } from 'vitest'
import type { LimitPolicy } from '../../core/tenancy/policies.ts'
import type { Caller, Environment } from '../../core/tenancy/tenancy.ts'
import { MeterSets } from './meter-sets.ts'

const AT = Date.UTC(2026, 10, 21)

function makeEnvironment(id: string, limits: number): Environment {
  const limit = (at: number): LimitPolicy => ({
    id: `${id} ${at}`,
    createdAt: 0,
    updatedAt: 0,
    scope: 'environment',
    ref: null,
    metric: 'requests',
    limit: 9,
    windowMs: 60_000,
  })
  const policies = { timeZone: 'UTC', quotas: [], budgets: [], plans: [], hasSpecialEndUsers: false }
  const list = Array.from({ length: limits }, (_, at) => limit(at))
  return { id, orgId: 'o', projectId: 'p', policies: { ...policies, limits: list } } as unknown as Environment
}

const caller = (keyId: string): Caller => ({ keyId, originalKeyId: keyId }) as Caller

test('a caller has the same set until its environment has too many meters; those of others stay', () => {
  const sets = new MeterSets()
  const [small, large] = [makeEnvironment('small', 1), makeEnvironment('large', 1_000)]
  const [ofSmall, ofLarge] = [small, large].map(each => sets.getMeters(each, caller('first'), undefined, AT))
  for (let at = 0; at < 99; at++) sets.getMeters(large, caller(`key ${at}`), undefined, AT)
  expect(sets.getMeters(large, caller('first'), undefined, AT)).toBe(ofLarge)
  sets.getMeters(large, caller('one too many'), undefined, AT)
  const again = sets.getMeters(large, caller('first'), undefined, AT)
  expect(again).toEqual(ofLarge)
  expect(again).not.toBe(ofLarge)
  expect(sets.getMeters(small, caller('first'), undefined, AT)).toBe(ofSmall)
})

test('many environments together keep a bounded number of meters', () => {
  const sets = new MeterSets()
  const small = makeEnvironment('small', 1)
  const first = sets.getMeters(small, caller('first'), undefined, AT)
  const environments = Array.from({ length: 10 }, (_, at) => makeEnvironment(`large ${at}`, 1_000))
  for (const each of environments.slice(0, 4))
    for (let at = 0; at < 100; at++) sets.getMeters(each, caller(`key ${at}`), undefined, AT)
  expect(sets.getMeters(small, caller('first'), undefined, AT)).toBe(first)
  for (const each of environments.slice(4))
    for (let at = 0; at < 100; at++) sets.getMeters(each, caller(`key ${at}`), undefined, AT)
  expect(sets.getMeters(small, caller('first'), undefined, AT)).not.toBe(first)
})
