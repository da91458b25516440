import http from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openScriptedDns, type ScriptedDns } from '../../testing/fakes/scripted-dns.ts'
import type { EgressPolicy } from './egress.ts'
import { type GuardedAnswer, guardedRequest } from './guarded-request.ts'
import { openCallerEgress, openConfiguredEgress } from './open-egress.ts'

const MiB = 1024 * 1024

let dns: ScriptedDns
let server: http.Server
let port: number
let requests: string[]
beforeAll(async () => {
  dns = await openScriptedDns()
  server = http.createServer((req, res) => {
    requests.push(req.headers.host ?? '')
    res.end('here')
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
afterAll(async () => {
  await dns.close()
  await new Promise(resolve => server.close(resolve))
})
beforeEach(() => {
  requests = []
})

const callers = (allowPrivate = true): EgressPolicy =>
  openCallerEgress({ allowPrivate, dnsServers: [dns.server] })
const get = (name: string, policy: EgressPolicy, timeoutMs = 10_000): Promise<GuardedAnswer> =>
  guardedRequest(`http://${name}:${port}/`, { headers: {}, policy, timeoutMs, maxBytes: 100 })
const secretly = (name: string, policy: EgressPolicy): Promise<GuardedAnswer> =>
  guardedRequest(`https://${name}/`, { headers: {}, policy, timeoutMs: 10_000, maxBytes: 100 })

test('an answer of interim responses without end fails soon', async () => {
  const block = 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(2_000)
  let sent = 0
  const endless = net.createServer(socket => {
    const write = (): void => {
      while (!socket.destroyed && sent < 256 * MiB) {
        sent += block.length
        if (!socket.write(block)) return
      }
    }
    socket.on('error', () => {})
    socket.on('drain', write)
    socket.once('data', write)
  })
  await new Promise<void>(resolve => endless.listen(0, '127.0.0.1', resolve))
  const { port: endlessPort } = endless.address() as AddressInfo
  const url = `http://127.0.0.1:${endlessPort}/`
  const answer = await guardedRequest(url, {
    headers: {},
    policy: callers(),
    timeoutMs: 10_000,
    maxBytes: 100,
  })
  expect(answer).toEqual({ ok: false, reason: 'unreachable' })
  expect(sent).toBeLessThan(256 * MiB)
  endless.close()
})

describe('a name', () => {
  test('is resolved once, and the socket connects to that answer', async () => {
    dns.script('rebind.test', { a: ['127.0.0.1'], ttl: 0 }, { a: ['169.254.169.254'], ttl: 0 })
    expect(await get('rebind.test', callers())).toMatchObject({ ok: true, status: 200 })
    expect(requests).toEqual([`rebind.test:${port}`])
    expect(dns.queries.filter(query => query === 'rebind.test A')).toHaveLength(1)
    // Another process's resolver sees the second answer.
    expect(await get('rebind.test', callers())).toEqual({ ok: false, reason: 'refused' })
  })

  test.each([
    ['of IPv4', { a: ['127.0.0.1', '169.254.169.254'] }],
    ['of IPv6', { a: ['127.0.0.1'], aaaa: ['fd00:ec2:0:0:0:0:0:254'] }],
    ['of IPv6 that embeds one of IPv4', { a: ['127.0.0.1'], aaaa: ['0:0:0:0:0:ffff:a9fe:a9fe'] }],
    ['behind many good ones', { a: [...Array<string>(40).fill('127.0.0.1'), '169.254.0.1'], isCut: true }],
    ['at the end of a chain', { aliases: ['a.b', 'c.d'], a: ['169.254.169.254'] }],
  ])('with a forbidden address %s is refused, and nothing is connected to', async (_, records) => {
    dns.script('mixed.test', records)
    expect(await get('mixed.test', callers())).toEqual({ ok: false, reason: 'refused' })
    expect(requests).toEqual([])
  })

  test('with a private address is refused by a policy without private addresses', async () => {
    dns.script('private.test', { a: ['127.0.0.1'] })
    expect(await secretly('private.test', callers(false))).toEqual({ ok: false, reason: 'refused' })
    expect(await secretly('localhost', callers(false))).toEqual({ ok: false, reason: 'refused' })
  })

  test('is not known for callers if only the hosts file has it', async () => {
    const hostsFile = { list: async () => [{ address: '127.0.0.1', family: 4 }] } as never
    const configured = openConfiguredEgress({ allowPrivate: true, dnsServers: [dns.server], hostsFile })
    expect(await get('only-in-hosts.test', configured)).toMatchObject({ ok: true })
    expect(await get('only-in-hosts.test', callers())).toEqual({ ok: false, reason: 'unreachable' })
  })
})
