import { beforeEach, expect, test } from 'vitest'
import { MIN_CALLS } from '../../core/attempts/circuit.ts'
import type { CircuitSharing, CircuitUpdate } from '../../core/attempts/circuit-sharing.ts'
import type { Credential } from '../../core/tenancy/tenancy.ts'
import { Circuits, type CircuitUser, IDLE_MS, MAX_CIRCUITS, MAX_MODELS } from './circuits.ts'

let now: number
beforeEach(() => {
  now = 1_700_000_000_000
})

const credential = (id: string): Credential => ({
  id,
  provider: 'p',
  apiKey: 'k',
  baseUrl: null,
  options: {},
  weight: 1,
  createdAt: 0,
  updatedAt: 0,
  discovered: new Set(),
})
const C = credential('c')
const user = (orgId: string): CircuitUser => ({ environment: { orgId }, endUser: undefined })
const USER = user('o')

function openOne(sharing?: CircuitSharing): Circuits {
  return new Circuits({ now: () => now, sharing, onChange: () => {} })
}

function breakDown(circuits: Circuits, of: Credential, model: string): void {
  for (let n = 0; n < MIN_CALLS; n++) circuits.noteFailure(USER, of, model, 'admitted', 'certain')
}

test('a credential that is called with ever new models keeps its open circuits and those in use', () => {
  const circuits = openOne()
  breakDown(circuits, C, 'broken')
  for (let n = 0; n < 10 * MAX_MODELS; n++) {
    now++
    circuits.noteSuccess(USER, C, 'used', 'admitted')
    now++
    circuits.noteSuccess(USER, C, `model-${n}`, 'admitted')
  }
  expect(circuits.find(C.id, 'broken')?.isOpen).toBe(true)
  expect(circuits.find(C.id, 'used')).toBeDefined()
  expect(circuits.find(C.id, 'model-0')).toBeUndefined()
})

/** Uses as many circuits of one organization as there is room for, and some more. */
function fill(circuits: Circuits, orgId: string): void {
  for (let n = 0; n < MAX_CIRCUITS + 10; n++)
    circuits.noteSuccess(user(orgId), credential(`${orgId} ${n}`), 'm', 'admitted')
}

test('an organization that fills the table takes no circuit from others, and leaves room for theirs', () => {
  const circuits = openOne()
  breakDown(circuits, C, 'broken')
  fill(circuits, 'greedy')
  expect(circuits.find(C.id, 'broken')?.isOpen).toBe(true)
  breakDown(circuits, credential('late'), 'broken')
  expect(circuits.find('late', 'broken')?.isOpen).toBe(true)
  expect(circuits.find('greedy 0', 'm')).toBeUndefined()
  expect(circuits.find(`greedy ${MAX_CIRCUITS}`, 'm')).toBeDefined()
})

test('circuits that other processes open for one organization take none from others', () => {
  const circuits = openOne()
  breakDown(circuits, C, 'broken')
  const open = {
    provider: 'p',
    model: 'm',
    change: 'open',
    retryInMs: 1,
    openForMs: 0,
    failureRate: 1,
  } as const
  for (let n = 0; n <= MAX_CIRCUITS; n++) circuits.apply({ ...open, orgId: 'greedy', credentialId: `g${n}` })
  expect(circuits.find(C.id, 'broken')?.isOpen).toBe(true)
  expect(circuits.countOpen()).toBe(MAX_CIRCUITS)
})

test('an organization without room for more gives up the circuits that it used least recently', () => {
  const circuits = openOne()
  breakDown(circuits, C, 'broken')
  circuits.noteSuccess(USER, C, 'unused', 'admitted')
  now += 1_000
  circuits.noteSuccess(USER, C, 'broken', 'admitted')
  for (let n = 0; n < MAX_CIRCUITS - 1; n++) circuits.noteSuccess(USER, credential(`c${n}`), 'm', 'admitted')
  expect(circuits.find(C.id, 'unused')).toBeUndefined()
  expect(circuits.find(C.id, 'broken')?.isOpen).toBe(true)
})

test('idle circuits are forgotten as new ones are created', () => {
  const circuits = openOne()
  for (let n = 0; n < 100; n++) breakDown(circuits, credential(`c${n}`), 'm')
  now += IDLE_MS
  for (let n = 0; n < 30; n++) circuits.noteSuccess(USER, credential(`new ${n}`), 'm', 'admitted')
  expect(circuits.countOpen()).toBe(0)
  expect(circuits.find('c0', 'm')).toBeUndefined()
  expect(circuits.find('new 0', 'm')).toBeDefined()
})

test('the calls of one credential leave the circuits of others alone', () => {
  const circuits = openOne()
  breakDown(circuits, C, 'm')
  expect(circuits.find('c', 'm')?.isOpen).toBe(true)
  expect(circuits.find('other', 'm')).toBeUndefined()
  expect(circuits.countOpen()).toBe(1)
})

test('processes share openings, rests and closings, and one of them probes at a time', async () => {
  const processes: Circuits[] = []
  let holder: number | undefined
  const join = (self: number): CircuitSharing => ({
    publish: (update: CircuitUpdate) => {
      for (const [n, each] of processes.entries()) if (n !== self) each.apply(update)
    },
    claimProbe: async () => {
      if (holder !== undefined) return false
      holder = self
      return true
    },
    releaseProbe: () => {
      if (holder === self) holder = undefined
    },
  })
  for (let n = 0; n < 3; n++) processes.push(openOne(join(n)))
  const [one, two, three] = processes as [Circuits, Circuits, Circuits]
  const admissions = () => processes.map(each => each.find('c', 'm')?.admission(now))

  breakDown(one, C, 'm')
  expect(admissions()).toEqual(['open', 'open', 'open'])
  now += 1_000
  expect(admissions()).toEqual(['probe', 'probe', 'probe'])
  const claims = await Promise.all(
    processes.map(each => each.claimProbe(each.find('c', 'm') as NonNullable<ReturnType<Circuits['find']>>)),
  )
  expect(claims).toEqual([true, false, false])
  one.noteFailure(USER, C, 'm', 'probe', 'certain')
  expect(admissions()).toEqual(['open', 'open', 'open'])
  now += 2_000
  expect(admissions()).toEqual(['probe', 'probe', 'probe'])
  two.noteSuccess(USER, C, 'm', 'probe')
  expect(admissions()).toEqual(['admitted', 'admitted', 'admitted'])
  three.rest(USER, C, 'm', { ms: 5_000, isDoubtful: false })
  expect(admissions()).toEqual(['resting', 'resting', 'resting'])
})
