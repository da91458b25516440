import type { LookupAddress } from 'node:dns'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openScriptedDns, type ScriptedDns } from '../../testing/fakes/scripted-dns.ts'
import { HostResolver, LOOKUP_TIMEOUT_MS } from './host-resolver.ts'
import { toLookupOwner } from './lookup-slots.ts'
import { queryAddresses } from './query-addresses.ts'

let dns: ScriptedDns
beforeAll(async () => {
  dns = await openScriptedDns()
})
afterAll(() => dns.close())

const BOUNDS = { total: 32, perTenant: 2, perCaller: 2, waitingPerTenant: 10 }
const A = toLookupOwner('a')
const B = toLookupOwner('b')

/** A resolver whose cache follows `clock.now`; its lookups really run. */
function open(): { readonly hosts: HostResolver; readonly clock: { now: number } } {
  const clock = { now: 0 }
  const hosts = new HostResolver({
    lookUp: (hostname, _, timeoutMs) => queryAddresses(hostname, { servers: [dns.server], timeoutMs }),
    bounds: BOUNDS,
    now: () => clock.now,
  })
  return { hosts, clock }
}

const countOf = (name: string): number => dns.queries.filter(query => query === `${name} A`).length
const toText = (addresses: readonly LookupAddress[]): string =>
  addresses.map(({ address }) => address).join(' ')
const codeOf = (lookup: Promise<unknown>): Promise<unknown> =>
  lookup.then(
    () => 'resolved',
    error => error.code,
  )

describe('an answer', () => {
  test.each([
    ['of a second is kept for 5 seconds', 1, 5_000],
    ['of 20 seconds is kept as long', 20, 20_000],
    ['of a day is kept for a minute', 86_400, 60_000],
  ])('%s', async (_, ttl, keptMs) => {
    const name = `ttl-${ttl}.test`
    dns.script(name, { a: ['192.0.2.1'], ttl }, { a: ['192.0.2.2'] })
    const { hosts, clock } = open()
    await hosts.resolve(name, A)
    clock.now = keptMs - 1
    expect(toText(await hosts.resolve(name, B))).toBe('192.0.2.1')
    expect(countOf(name)).toBe(1)
    clock.now = keptMs
    expect(toText(await hosts.resolve(name, A))).toBe('192.0.2.2')
  })

  test('is kept for 5 seconds if the name does not exist', async () => {
    const { hosts, clock } = open()
    for (clock.now = 0; clock.now < 5_000; clock.now += 1_000) {
      expect(await codeOf(hosts.resolve('none.test', A))).toBe('ENOTFOUND')
    }
    expect(countOf('none.test')).toBe(1)
    dns.script('none.test', { a: ['192.0.2.1'] })
    expect(await codeOf(hosts.resolve('none.test', A))).toBe('resolved')
  })

  test('is kept for a second if the lookup failed', async () => {
    dns.script('broken.test', 'servfail')
    const { hosts, clock } = open()
    expect(await codeOf(hosts.resolve('broken.test', A))).toBe('EAI_FAIL')
    dns.script('broken.test', { a: ['192.0.2.1'] })
    clock.now = 999
    expect(await codeOf(hosts.resolve('broken.test', A))).toBe('EAI_FAIL')
    clock.now = 1_000
    expect(await codeOf(hosts.resolve('broken.test', A))).toBe('resolved')
  })

  test('is kept for 10 seconds if the lookup took too long', async () => {
    const clock = { now: 0 }
    let asked = 0
    const hosts = new HostResolver({
      lookUp: async () => {
        asked++
        return { ok: false, reason: 'timeout' }
      },
      bounds: BOUNDS,
      now: () => clock.now,
    })
    for (clock.now = 0; clock.now < 10_000; clock.now += 999)
      expect(await codeOf(hosts.resolve('hanging.test', A))).toBe('ETIMEOUT')
    expect(asked).toBe(1)
    clock.now = 10_000
    await codeOf(hosts.resolve('hanging.test', B))
    expect(asked).toBe(2)
  })

  test('is used for ten minutes after its addresses expired while DNS servers fail, and no longer', async () => {
    dns.script('stale.test', { a: ['192.0.2.1'], ttl: 60 }, 'servfail')
    const { hosts, clock } = open()
    await hosts.resolve('stale.test', A)
    clock.now = 60_000
    expect(toText(await hosts.resolve('stale.test', A))).toBe('192.0.2.1')
    const asked = countOf('stale.test')
    expect(asked).toBeGreaterThan(1)
    expect(toText(await hosts.resolve('stale.test', B))).toBe('192.0.2.1')
    expect(countOf('stale.test')).toBe(asked)
    clock.now = 659_999
    expect(toText(await hosts.resolve('stale.test', A))).toBe('192.0.2.1')
    clock.now = 661_000
    expect(await codeOf(hosts.resolve('stale.test', A))).toBe('EAI_FAIL')
  })

  test('is replaced if the name no longer exists', async () => {
    dns.script('gone.test', { a: ['192.0.2.1'], ttl: 60 }, 'unknown')
    const { hosts, clock } = open()
    await hosts.resolve('gone.test', A)
    clock.now = 60_000
    expect(await codeOf(hosts.resolve('gone.test', A))).toBe('ENOTFOUND')
  })

  test('begins with another address of each family each time', async () => {
    dns.script('many.test', {
      a: ['192.0.2.1', '192.0.2.2', '192.0.2.3'],
      aaaa: ['2001:db8:0:0:0:0:0:1', '2001:db8:0:0:0:0:0:2'],
    })
    const { hosts } = open()
    const orders: string[] = []
    for (let n = 0; n < 3; n++) orders.push(toText(await hosts.resolve('many.test', A)))
    expect(orders).toEqual([
      '192.0.2.1 2001:db8::1 192.0.2.2 2001:db8::2 192.0.2.3',
      '192.0.2.2 2001:db8::2 192.0.2.3 2001:db8::1 192.0.2.1',
      '192.0.2.3 2001:db8::1 192.0.2.1 2001:db8::2 192.0.2.2',
    ])
  })

  test('is not removed by those of a thousand names of another tenant', async () => {
    const { hosts } = open()
    dns.script('own.test', { a: ['192.0.2.1'] })
    dns.script('wild.test', { a: ['192.0.2.1'] })
    await hosts.resolve('own.test', A)
    for (let n = 0; n <= 1_000; n++) await hosts.resolve(`b${n}.wild.test`, B)
    await hosts.resolve('own.test', A)
    expect(countOf('own.test')).toBe(1)
  })

  test('is not removed by those of a thousand hosts with shares of their own that another organization asks for', async () => {
    const { hosts } = open()
    dns.script('kept.test', { a: ['192.0.2.1'] })
    dns.script('wild.test', { a: ['192.0.2.1'] })
    const names = ['kept.test', 'kept.wild.test']
    for (const name of names) await hosts.resolve(name, A)
    for (let n = 0; n <= 1_000; n++)
      await hosts.resolve(`h${n}.wild.test`, toLookupOwner(`issuer ${n}`, 'hostile'))
    for (const name of names) await hosts.resolve(name, A)
    expect(names.map(countOf)).toEqual([1, 1])
  })

  test('is removed by those of a thousand other names, so that the cache does not grow', async () => {
    const { hosts } = open()
    dns.script('wild.test', { a: ['192.0.2.1'] })
    for (let n = 0; n <= 1_000; n++) await hosts.resolve(`n${n}.wild.test`, A)
    await hosts.resolve('n1000.wild.test', A)
    expect(countOf('n1000.wild.test')).toBe(1)
    await hosts.resolve('n0.wild.test', A)
    expect(countOf('n0.wild.test')).toBe(2)
  })
})

test('concurrent callers share one lookup', async () => {
  dns.script('shared.test', { a: ['192.0.2.1'] })
  const { hosts } = open()
  const owners = Array.from({ length: 50 }, (_, n) => toLookupOwner(`tenant ${n}`))
  await Promise.all(owners.map(owner => hosts.resolve('shared.test', owner)))
  expect(countOf('shared.test')).toBe(1)
})

describe('with hanging names of a tenant', () => {
  test('another tenant gets its names at once, one that the first waits for too', async () => {
    dns.script('slow.test', 'hang')
    dns.script('fast.test', { a: ['192.0.2.1'] })
    const { hosts } = open()
    const ended: string[] = []
    const note = (name: string) => () => void ended.push(name)
    const slow = Array.from({ length: 6 }, (_, n) =>
      codeOf(hosts.resolve(`n${n}.slow.test`, A)).then(note('slow')),
    )
    // It waits behind the hanging ones.
    const queued = codeOf(hosts.resolve('fast.test', A)).then(note('queued'))
    await hosts.resolve('fast.test', B)
    await hosts.resolve('other.fast.test', B)
    expect(ended).toEqual([])
    await Promise.all([...slow, queued])
  })

  test('its lookups above the bound wait no longer than a lookup may take, then all are refused alike', async () => {
    dns.script('slower.test', 'hang')
    const { hosts } = open()
    const codes = await Promise.all(
      Array.from({ length: 20 }, (_, n) => codeOf(hosts.resolve(`n${n}.slower.test`, A))),
    )
    expect(new Set(codes)).toEqual(new Set(['ETIMEOUT']))
    // Two ran, and those that waited were never asked for.
    expect(new Set(dns.queries.filter(query => query.includes('slower.test'))).size).toBe(4)
  })
})

test('names of a tenant whose CNAMEs loop or lead on and on fail like unknown ones, and another tenant gets its names', async () => {
  dns.script('loop.test', { a: [], aliases: ['x.loop.test', 'y.loop.test', 'x.loop.test'] })
  dns.script('chain.test', { a: [], aliases: Array.from({ length: 200 }, (_, n) => `c${n}.chain.test`) })
  dns.script('plain.test', { a: ['192.0.2.1'] })
  const { hosts } = open()
  const before = dns.queries.length
  const names = Array.from({ length: 6 }, (_, n) => `n${n}.${n % 2 === 0 ? 'loop' : 'chain'}.test`)
  const looping = names.map(name => codeOf(hosts.resolve(name, A)))
  expect(toText(await hosts.resolve('plain.test', B))).toBe('192.0.2.1')
  for (const code of await Promise.all(looping)) expect(['ENOTFOUND', 'ENODATA', 'ESERVFAIL']).toContain(code)
  // The resolver follows no alias by queries of its own: two of each name.
  expect(dns.queries.slice(before).length).toBeLessThanOrEqual(2 * (names.length + 1))
})

test('frees the slot of a lookup that throws', async () => {
  let calls = 0
  const hosts = new HostResolver({
    lookUp: () => Promise.reject(new Error(`a bug ${++calls}`)),
    bounds: { total: 1, perTenant: 1, perCaller: 1, waitingPerTenant: 0 },
  })
  await expect(hosts.resolve('x.test', A)).rejects.toThrow('a bug 1')
  await expect(hosts.resolve('x.test', A)).rejects.toThrow('a bug 2')
})

test('a lookup has its whole time, though its first caller has waited for a slot', async () => {
  const limits: number[] = []
  const hosts = new HostResolver({
    lookUp: async (_, __, timeoutMs) => {
      limits.push(timeoutMs)
      return { ok: true, addresses: [{ address: '192.0.2.1', family: 4 }], ttlMs: 0 }
    },
    bounds: { total: 1, perTenant: 1, perCaller: 1, waitingPerTenant: 5 },
  })
  await Promise.all(['a.test', 'b.test', 'c.test'].map(name => hosts.resolve(name, A)))
  expect(limits).toEqual([LOOKUP_TIMEOUT_MS, LOOKUP_TIMEOUT_MS, LOOKUP_TIMEOUT_MS])
})
