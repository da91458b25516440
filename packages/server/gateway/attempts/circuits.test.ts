import { beforeEach, expect, test } from 'vitest'
import { MIN_CALLS } from '../../core/attempts/circuit.ts'
import type { CircuitSharing, CircuitUpdate } from '../../core/attempts/circuit-sharing.ts'
import type { Credential } from '../../core/tenancy/tenancy.ts'
import { Circuits, IDLE_MS, MAX_CIRCUITS, MAX_MODELS } from './circuits.ts'

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

function openOne(sharing?: CircuitSharing): Circuits {
  return new Circuits({ now: () => now, sharing, onChange: () => {} })
}

function breakDown(circuits: Circuits, of: Credential, model: string): void {
  for (let n = 0; n < MIN_CALLS; n++) circuits.noteFailure(of, model, 'admitted', 'certain', undefined)
}

test('a credential that is called with ever new models keeps its open circuits and those in use', () => {
  const circuits = openOne()
  breakDown(circuits, C, 'broken')
  for (let n = 0; n < 10 * MAX_MODELS; n++) {
    now++
    circuits.noteSuccess(C, 'used', 'admitted')
    now++
    circuits.noteSuccess(C, `model-${n}`, 'admitted')
  }
  expect(circuits.find(C.id, 'broken')?.isOpen).toBe(true)
  expect(circuits.find(C.id, 'used')).toBeDefined()
  expect(circuits.find(C.id, 'model-0')).toBeUndefined()
})

test('a full table makes calls without circuits, and takes no circuit from others', () => {
  const circuits = openOne()
  breakDown(circuits, C, 'broken')
  for (let n = 0; n < MAX_CIRCUITS + 10; n++) circuits.noteSuccess(credential(`c${n}`), 'm', 'admitted')
  expect(circuits.find(C.id, 'broken')?.isOpen).toBe(true)
  expect(circuits.find(`c${MAX_CIRCUITS}`, 'm')).toBeUndefined()
  now += IDLE_MS
  circuits.noteSuccess(credential('late'), 'm', 'admitted')
  expect(circuits.find('late', 'm')).toBeDefined()
  expect(circuits.find(C.id, 'broken')).toBeUndefined()
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
  one.noteFailure(C, 'm', 'probe', 'certain', undefined)
  expect(admissions()).toEqual(['open', 'open', 'open'])
  now += 2_000
  expect(admissions()).toEqual(['probe', 'probe', 'probe'])
  two.noteSuccess(C, 'm', 'probe')
  expect(admissions()).toEqual(['admitted', 'admitted', 'admitted'])
  three.rest(C, 'm', { ms: 5_000, isDoubtful: false }, undefined)
  expect(admissions()).toEqual(['resting', 'resting', 'resting'])
})
