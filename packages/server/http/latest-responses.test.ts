import http, { type ServerResponse } from 'node:http'
import net, { type AddressInfo, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LatestResponses } from './latest-responses.ts'

describe('the latest response of a connection', () => {
  const responses = new LatestResponses()
  const received: { socket: Socket; res: ServerResponse }[] = []
  const server = http.createServer((req, res) => {
    responses.add(req, res)
    received.push({ socket: req.socket, res })
  })
  beforeAll(() => new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve)))
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })

  const connect = (): Socket => net.connect((server.address() as AddressInfo).port, '127.0.0.1')
  const request = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'

  /** Sends bytes on a connection and returns what the server received of them. */
  async function send(client: Socket, text: string, requests: number) {
    received.length = 0
    client.resume().write(text)
    while (received.length < requests) await sleep(1)
    return [...received] as [(typeof received)[0], ...typeof received]
  }

  async function waitUntilForgotten(socket: Socket): Promise<void> {
    while (responses.of(socket) !== undefined) await sleep(1)
  }

  test('is known while it is in progress, and forgotten on a connection that stays open', async () => {
    const client = connect()
    const [{ socket, res }] = await send(client, request, 1)
    expect(responses.of(socket)).toBe(res)
    res.end('x')
    await waitUntilForgotten(socket)
    expect(socket.destroyed).toBe(false)
    client.destroy()
  })

  test('is that of the last pipelined request, also once an earlier one closes', async () => {
    const client = connect()
    const [first, second] = await send(client, request + request, 2)
    expect(responses.of(first.socket)).toBe(second?.res)
    const closed = new Promise(resolve => first.res.once('close', resolve))
    first.res.end('x')
    await closed
    expect(responses.of(first.socket)).toBe(second?.res)
    second?.res.end('x')
    await waitUntilForgotten(first.socket)
    client.destroy()
  })

  test('is forgotten if the connection is lost', async () => {
    const client = connect()
    const [{ socket }] = await send(client, request, 1)
    client.destroy()
    await waitUntilForgotten(socket)
    expect(socket.destroyed).toBe(true)
  })
})
