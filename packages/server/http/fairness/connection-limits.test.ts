import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { openRaw, type RawConnection } from '../../testing/harness/raw-connection.ts'
import { parseTrustedProxies, type TrustedProxies } from '../head/client-address.ts'
import { AddressShares } from './address-shares.ts'
import { ConnectionLimits } from './connection-limits.ts'

const NOBODY: TrustedProxies = { has: () => false }

let server: Server | undefined
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

async function serve(limits: ConnectionLimits): Promise<string> {
  const made = createServer((_req, res) => res.end('hello'))
  server = made
  limits.guard(made)
  await new Promise<void>(resolve => made.listen({ host: '127.0.0.1', port: 0 }, resolve))
  return `http://127.0.0.1:${(made.address() as AddressInfo).port}`
}

/** True if a request on the connection is answered. */
async function isServed(raw: RawConnection): Promise<boolean> {
  raw.socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  return await raw.until('hello').then(
    () => true,
    () => false,
  )
}

async function openMany(url: string, count: number): Promise<RawConnection[]> {
  return await Promise.all(Array.from({ length: count }, () => openRaw(url)))
}

test('closes what one address opens beyond its bound, idle connections included, until one of them closes', async () => {
  const limits = new ConnectionLimits({ max: 100, perAddress: 3, trustedProxies: NOBODY })
  const url = await serve(limits)
  const silent = await openMany(url, 3)
  await expect.poll(() => limits.open).toBe(3)
  expect(await isServed(await openRaw(url))).toBe(false)
  expect(limits.refused).toBe(1)
  silent[0]?.socket.destroy()
  await expect.poll(() => limits.open).toBe(2)
  expect(await isServed(await openRaw(url))).toBe(true)
})

test('an address takes no more than its share of all connections; a trusted proxy takes all', async () => {
  const limits = new ConnectionLimits({ max: 20, perAddress: undefined, trustedProxies: NOBODY })
  const url = await serve(limits)
  await openMany(url, 20)
  await expect.poll(() => limits.open + limits.refused).toBe(20)
  expect(limits.open).toBeGreaterThan(8)
  expect(limits.open).toBeLessThan(16)
  server?.closeAllConnections()
  server?.close()
  const trustedProxies = parseTrustedProxies(['127.0.0.1']) as TrustedProxies
  const ofProxy = new ConnectionLimits({ max: 20, perAddress: 3, trustedProxies })
  const proxied = await serve(ofProxy)
  await openMany(proxied, 20)
  await expect.poll(() => ofProxy.open).toBe(20)
  expect(await isServed(await openRaw(proxied))).toBe(false)
})

test('addresses in one /32 of IPv6 leave room to others, and nothing is remembered of who holds nothing', () => {
  const shares = new AddressShares(1_000, 1)
  const held: string[] = []
  for (let at = 0; at < 5_000; at++) {
    const address = `2001:db8:${(at >> 8).toString(16)}:${(at & 255).toString(16)}::1`
    while (shares.acquire(address, 1)) held.push(address)
  }
  expect(shares.all.used).toBeLessThan(700)
  expect(shares.acquire('2001:db9::1', 100)).toBe(true)
  expect(shares.acquire('192.0.2.1', 100)).toBe(true)
  shares.release('2001:db9::1', 100)
  shares.release('192.0.2.1', 100)
  for (const address of held) shares.release(address, 1)
  expect([shares.all.used, shares.addresses]).toEqual([0, 0])
})
