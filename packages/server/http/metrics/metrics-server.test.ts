import net from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createMetricsServer } from './metrics.ts'

let reads: number
let server: ReturnType<typeof createMetricsServer>
let port: number
beforeEach(async () => {
  reads = 0
  const merge: Parameters<typeof createMetricsServer>[2] = async own => {
    reads++
    await new Promise(resolve => setTimeout(resolve, 50))
    return own
  }
  const reading = { name: 'rideau_test', help: 'A number.', kind: 'gauge', read: () => 7 } as const
  server = createMetricsServer([reading], undefined, merge)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as net.AddressInfo).port
})
afterEach(() => new Promise(resolve => server.close(resolve)))

test('concurrent scrapes share one reading, and each gets the text', async () => {
  const scrape = async () => await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  for (const text of await Promise.all(Array.from({ length: 20 }, scrape))) {
    expect(text).toContain('rideau_test 7')
  }
  expect(reads).toBeLessThan(20)
  const before = reads
  expect(await scrape()).toContain('rideau_test 7')
  expect(reads).toBe(before + 1)
})

test('thousands of requests of one connection are read once, and the connection is closed', async () => {
  const socket = net.connect(port, '127.0.0.1')
  const closed = new Promise(resolve => socket.on('close', resolve))
  socket.on('error', () => {})
  let received = ''
  socket.on('data', data => {
    received += data
  })
  socket.write('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(3_000))
  await closed
  expect(received.split('HTTP/1.1 ').length - 1).toBeLessThanOrEqual(1)
  expect(reads).toBe(1)
})
