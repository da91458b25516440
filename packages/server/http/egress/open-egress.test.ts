import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openScriptedDns, type ScriptedDns } from '../../testing/fakes/scripted-dns.ts'
import { HostsFile } from '../names/hosts-file.ts'
import { toLookupOwner } from '../names/lookup-slots.ts'
import { SystemLookup } from '../names/system-lookup.ts'
import type { EgressPolicy } from './egress.ts'
import { openConfiguredEgress } from './open-egress.ts'

const A = toLookupOwner('a')
const B = toLookupOwner('b')

const folder = mkdtempSync(path.join(tmpdir(), 'rideau-hosts-'))
const file = path.join(folder, 'hosts')
writeFileSync(file, '10.0.0.1 overridden.test\n')
let dns: ScriptedDns
beforeAll(async () => {
  dns = await openScriptedDns()
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await dns.close()
})

interface OpenedEgress {
  readonly policy: EgressPolicy
  /** The names that the system was asked for. */
  readonly asked: string[]
}

/** The system knows every name that begins with `system`, and never answers for those that begin with `hang`. */
function open(allowPrivate = true): OpenedEgress {
  const asked: string[] = []
  const system = new SystemLookup(name => {
    asked.push(name)
    if (name.startsWith('hang')) return new Promise(() => {})
    if (name.startsWith('system')) return Promise.resolve([{ address: '10.0.0.2', family: 4 }])
    return Promise.reject(Object.assign(new Error('not found'), { code: 'ENOTFOUND' }))
  })
  const hostsFile = new HostsFile(file)
  return {
    policy: openConfiguredEgress({ allowPrivate, dnsServers: [dns.server], hostsFile, system }),
    asked,
  }
}

const resolve = ({ policy }: OpenedEgress, name: string, owner = A): Promise<string> =>
  policy.hosts.resolve(name, owner).then(
    addresses => addresses.map(({ address }) => address).join(' '),
    error => error.code,
  )

test('the hosts file comes before DNS', async () => {
  dns.script('overridden.test', { a: ['192.0.2.1'] })
  expect(await resolve(open(), 'overridden.test')).toBe('10.0.0.1')
  expect(dns.queries).not.toContain('overridden.test A')
})

test('a name that DNS has is not asked of the system', async () => {
  dns.script('system-and-dns.test', { a: ['192.0.2.1'] })
  const opened = open()
  expect(await resolve(opened, 'system-and-dns.test')).toBe('192.0.2.1')
  expect(opened.asked).toEqual([])
})

test('a name that DNS does not know is asked of the system where private addresses are allowed', async () => {
  const opened = open()
  expect(await resolve(opened, 'system-only')).toBe('10.0.0.2')
  expect(await resolve(opened, 'nobody-knows')).toBe('ENOTFOUND')
  expect(opened.asked).toEqual(['system-only', 'nobody-knows'])
})

test('the system is not asked where private addresses are not allowed', async () => {
  const opened = open(false)
  expect(await resolve(opened, 'system-only')).toBe('ENOTFOUND')
  expect(opened.asked).toEqual([])
})

test('a name whose DNS server does not answer is asked of the system only if it is short or of mDNS', async () => {
  for (const name of ['silent.test', 'system-short', 'local']) dns.script(name, 'hang')
  const opened = open()
  const names = ['system.silent.test', 'system-short', 'system.local']
  expect(await Promise.all(names.map(name => resolve(opened, name)))).toEqual([
    'ETIMEOUT',
    '10.0.0.2',
    '10.0.0.2',
  ])
  // Two look-ups that end at about the same time.
  expect([...opened.asked].sort()).toEqual(['system-short', 'system.local'])
})

test("a tenant that waits for the system with a name delays and fails no other tenant's lookup of it", async () => {
  const asked: string[] = []
  const system = new SystemLookup(name => {
    asked.push(name)
    return Promise.resolve([{ address: '10.0.0.2', family: 4 }])
  })
  // As if the tenant were barred: his lookups get no answer, another's do.
  const find = system.resolve.bind(system)
  system.resolve = (name, owner, timeoutMs) =>
    owner === A ? Promise.resolve({ ok: false, reason: 'timeout' }) : find(name, owner, timeoutMs)
  const hostsFile = new HostsFile(file)
  const policy = openConfiguredEgress({ allowPrivate: true, dnsServers: [dns.server], hostsFile, system })
  const opened = { policy, asked }
  expect(await Promise.all([resolve(opened, 'vllm', A), resolve(opened, 'vllm', B)])).toEqual([
    'ETIMEOUT',
    '10.0.0.2',
  ])
  expect(await resolve(opened, 'vllm', A)).toBe('ETIMEOUT')
  expect(await resolve(opened, 'vllm', B)).toBe('10.0.0.2')
  expect(asked).toEqual(['vllm'])
})

test('a thousand hanging names of a tenant delay no name of another, though the system hangs too', async () => {
  dns.script('dead.test', 'hang')
  dns.script('provider.test', { a: ['192.0.2.1'] })
  const opened = open()
  const ended: string[] = []
  const dead = Array.from({ length: 1_000 }, (_, n) =>
    resolve(opened, n % 2 === 0 ? `n${n}.dead.test` : `hang${n}`).then(code => ended.push(code)),
  )
  expect(await resolve(opened, 'provider.test', B)).toBe('192.0.2.1')
  expect(await resolve(opened, 'overridden.test', B)).toBe('10.0.0.1')
  expect(ended.filter(code => code !== 'ETIMEOUT')).toEqual([])
  await Promise.all(dead)
  expect(new Set(ended)).toEqual(new Set(['ETIMEOUT']))
  expect(opened.asked.length).toBeLessThanOrEqual(1)
})
