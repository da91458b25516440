import type { LookupAddress } from 'node:dns'
import { expect, test } from 'vitest'
import { toLookupOwner } from './lookup-slots.ts'
import { SystemLookup } from './system-lookup.ts'

const A = toLookupOwner('a')
const B = toLookupOwner('b')
const LONG_MS = 60_000
const found: LookupAddress[] = [{ address: '10.0.0.1', family: 4 }]
const settle = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

/** A system resolver that answers a name when the test ends its lookup. */
function open(): {
  readonly system: SystemLookup
  readonly clock: { now: number }
  readonly started: string[]
  end(name: string): void
} {
  const clock = { now: 0 }
  const started: string[] = []
  const ends = new Map<string, () => void>()
  const getAddresses = (name: string): Promise<LookupAddress[]> => {
    started.push(name)
    return new Promise(resolve => ends.set(name, () => resolve(found)))
  }
  return {
    system: new SystemLookup(getAddresses, () => clock.now),
    clock,
    started,
    end: name => ends.get(name)?.(),
  }
}

test('runs one lookup at a time, whatever the number of tenants', async () => {
  const { system, started, end } = open()
  const first = system.resolve('a.lan', A, LONG_MS)
  const second = system.resolve('b.lan', B, LONG_MS)
  await settle()
  expect(started).toEqual(['a.lan'])
  end('a.lan')
  expect(await first).toEqual({ ok: true, addresses: found, ttlMs: 0 })
  await settle()
  expect(started).toEqual(['a.lan', 'b.lan'])
  end('b.lan')
  expect(await second).toMatchObject({ ok: true })
})

test('answers after the time limit, while the lookup still holds its place', async () => {
  const { system, started } = open()
  expect(await system.resolve('hang.lan', A, 1)).toEqual({ ok: false, reason: 'timeout' })
  expect(await system.resolve('b.lan', B, 1)).toEqual({ ok: false, reason: 'timeout' })
  expect(started).toEqual(['hang.lan'])
})

test('bars a tenant for a minute after a slow lookup, also those of his that wait already', async () => {
  const { system, clock, started, end } = open()
  const slow = system.resolve('slow.lan', A, LONG_MS)
  const waiting = system.resolve('next.lan', A, LONG_MS)
  const other = system.resolve('b.lan', B, LONG_MS)
  await settle()
  clock.now = 2_001
  end('slow.lan')
  expect(await slow).toMatchObject({ ok: true })
  expect(await waiting).toEqual({ ok: false, reason: 'timeout' })
  await settle()
  end('b.lan')
  expect(await other).toMatchObject({ ok: true })
  clock.now = 62_000
  expect(await system.resolve('c.lan', A, LONG_MS)).toEqual({ ok: false, reason: 'timeout' })
  clock.now = 62_001
  const again = system.resolve('c.lan', A, LONG_MS)
  await settle()
  end('c.lan')
  expect(await again).toMatchObject({ ok: true })
  expect(started).toEqual(['slow.lan', 'b.lan', 'c.lan'])
})

test('asks the real system', async () => {
  const system = new SystemLookup()
  expect(await system.resolve('localhost', A, LONG_MS)).toMatchObject({ ok: true })
})
