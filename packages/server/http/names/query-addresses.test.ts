import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openScriptedDns, type ScriptedDns } from '../../testing/fakes/scripted-dns.ts'
import { queryAddresses } from './query-addresses.ts'

let dns: ScriptedDns
beforeAll(async () => {
  dns = await openScriptedDns()
})
afterAll(() => dns.close())

const query = (hostname: string, timeoutMs = 3_000) =>
  queryAddresses(hostname, { servers: [dns.server], timeoutMs })
const countOf = (name: string): number => dns.queries.filter(each => each.startsWith(`${name} `)).length

test('returns the addresses of both families with the shortest lifetime', async () => {
  dns.script('both.test', { a: ['192.0.2.1', '192.0.2.2'], aaaa: ['2001:db8::1'], ttl: 30 })
  expect(await query('both.test')).toEqual({
    ok: true,
    addresses: [
      { address: '192.0.2.1', family: 4 },
      { address: '192.0.2.2', family: 4 },
      { address: '2001:db8::1', family: 6 },
    ],
    ttlMs: 30_000,
  })
})

test('returns the addresses at the end of a chain of aliases', async () => {
  dns.script('start.test', { aliases: ['middle.test', 'end.test'], a: ['192.0.2.3'] })
  expect(await query('start.test')).toMatchObject({ addresses: [{ address: '192.0.2.3', family: 4 }] })
})

test('repeats a query by TCP whose answer was cut', async () => {
  const addresses = Array.from({ length: 60 }, (_, n) => `192.0.2.${n}`)
  dns.script('cut.test', { a: addresses, isCut: true })
  const answer = await query('cut.test')
  expect(answer.ok && answer.addresses.map(({ address }) => address)).toEqual(addresses)
})

test('refuses an answer of more than a hundred addresses', async () => {
  dns.script('huge.test', {
    a: Array.from({ length: 300 }, (_, n) => `192.0.${n >> 8}.${n & 255}`),
    isCut: true,
  })
  expect(await query('huge.test')).toEqual({ ok: false, reason: 'failed' })
})

describe('a name', () => {
  test('is unknown if it does not exist, though the query of the other family hangs', async () => {
    dns.script('half.test', { code: 'unknown', hangs: ['AAAA'] })
    expect(await query('half.test')).toEqual({ ok: false, reason: 'unknown' })
  })

  test('without addresses is unknown', async () => {
    dns.script('empty.test', {})
    expect(await query('empty.test')).toEqual({ ok: false, reason: 'unknown' })
  })

  test('is unknown if its alias leads nowhere', async () => {
    dns.script('dangling.test', { aliases: ['gone.test'] })
    expect(await query('dangling.test')).toEqual({ ok: false, reason: 'unknown' })
  })

  test.each(['servfail', 'refused'] as const)('whose server answers %s has failed', async script => {
    dns.script(`${script}.test`, script)
    expect(await query(`${script}.test`)).toEqual({ ok: false, reason: 'failed' })
  })

  test.each(['a..test', `${'x'.repeat(64)}.test`, `${'x.'.repeat(130)}test`])(
    'is unknown and not asked for if DNS cannot have it (%#)',
    async name => {
      const before = dns.queries.length
      expect(await query(name)).toEqual({ ok: false, reason: 'unknown' })
      expect(dns.queries.length).toBe(before)
    },
  )

  test.each(['localhost', 'LOCALHOST.', 'a.b.localhost'])(
    'like %s is loopback and not asked for',
    async name => {
      const before = dns.queries.length
      expect(await query(name)).toMatchObject({ addresses: [{ address: '127.0.0.1' }, { address: '::1' }] })
      expect(dns.queries.length).toBe(before)
    },
  )

  test('is given up after the time limit if its server does not answer', async () => {
    dns.script('hang.test', 'hang')
    expect(await query('hang.test', 100)).toEqual({ ok: false, reason: 'timeout' })
    expect(countOf('hang.test')).toBe(2)
  })

  test('is resolved by another attempt if the first one gets no answer', async () => {
    dns.script('lost.test', 'hang', { a: ['192.0.2.4'] })
    expect(await query('lost.test')).toMatchObject({ addresses: [{ address: '192.0.2.4' }] })
  })

  test.each(['A', 'AAAA'] as const)(
    'is resolved without its %s records if they do not arrive',
    async type => {
      dns.script(`no-${type}.test`.toLowerCase(), { a: ['192.0.2.5'], aaaa: ['2001:db8::5'], hangs: [type] })
      expect(await query(`no-${type}.test`)).toMatchObject({
        addresses: [{ family: type === 'A' ? 6 : 4 }],
      })
    },
  )
})

test('fails at once if no server listens', async () => {
  expect(await queryAddresses('a.test', { servers: ['127.0.0.1:1'], timeoutMs: 60_000 })).toEqual({
    ok: false,
    reason: 'failed',
  })
})
