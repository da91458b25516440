import { once } from 'node:events'
import { Agent, createServer, get, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ControlBodies } from './control-bodies.ts'

const bodies = new ControlBodies()
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
let handle: (res: ServerResponse) => void
const server = createServer((_, res) => {
  handle(res)
  res.end()
})

beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterAll(() => {
  agent.destroy()
  server.close()
})

/** One call on the kept connection. Returns the response of the server's side once it has closed. */
async function call(onCall: (res: ServerResponse) => void): Promise<ServerResponse> {
  let served: ServerResponse | undefined
  let closed: Promise<unknown> = Promise.resolve()
  handle = res => {
    served = res
    closed = once(res, 'close')
    onCall(res)
  }
  const { port } = server.address() as AddressInfo
  const [answer] = await once(get({ port, host: '127.0.0.1', agent }), 'response')
  answer.resume()
  await closed
  return served as ServerResponse
}

test.each([0, 5])('a call that holds %d bytes leaves nothing on a kept connection', async bytes => {
  const counts: number[] = []
  for (let index = 0; index < 3; index++) {
    const { req } = await call(res => expect(bodies.open('a', res).acquire(bytes)).toBeUndefined())
    counts.push(req.socket.listenerCount('close'))
    expect(bodies.held).toBe(0)
  }
  expect(new Set(counts).size).toBe(1)
})

test('bytes that come after the answer are not held', async () => {
  const res = await call(() => {})
  expect(bodies.open('a', res).acquire(5)).toBeUndefined()
  expect(bodies.held).toBe(0)
})
