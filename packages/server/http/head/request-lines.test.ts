import { once } from 'node:events'
import http, { type ServerResponse } from 'node:http'
import net, { type AddressInfo, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openRaw } from '../../testing/harness/raw-connection.ts'
import { answerClientError } from './client-error.ts'
import { MAX_WAITING, RequestLines } from './request-lines.ts'

describe('the latest response of a connection', () => {
  const received: { socket: Socket; res: ServerResponse }[] = []
  const lines = new RequestLines(() => {})
  const server = http.createServer((req, res) => {
    lines.add(req, res)
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
    while (lines.latest(socket) !== undefined) await sleep(1)
  }

  test('is known while it is in progress, and forgotten on a connection that stays open', async () => {
    const client = connect()
    const [{ socket, res }] = await send(client, request, 1)
    expect(lines.latest(socket)).toBe(res)
    res.end('x')
    await waitUntilForgotten(socket)
    expect(socket.destroyed).toBe(false)
    client.destroy()
  })

  test('is that of the last pipelined request, also once an earlier one closes', async () => {
    const client = connect()
    const [first, second] = await send(client, request + request, 2)
    expect(lines.latest(first.socket)).toBe(second?.res)
    const closed = new Promise(resolve => first.res.once('close', resolve))
    first.res.end('x')
    await closed
    expect(lines.latest(first.socket)).toBe(second?.res)
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

describe('pipelined requests', () => {
  const served: { readonly url: string; readonly res: ServerResponse }[] = []
  const errors: string[] = []
  let heads = 0
  const lines = new RequestLines((req, res) => served.push({ url: req.url ?? '', res }))
  const server = http.createServer((req, res) => {
    heads++
    lines.add(req, res)
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    errors.push(error.code ?? '')
    answerClientError(
      error,
      socket,
      lines.latest(socket),
      () => 'id',
      () => ({ body: {} }),
    )
  })
  beforeAll(() => new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve)))
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  beforeEach(() => {
    served.length = 0
    errors.length = 0
    heads = 0
  })

  const open = () => openRaw(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const get = (path: string) => `GET /${path} HTTP/1.1\r\nHost: a\r\n\r\n`
  const several = (count: number) => Array.from({ length: count }, (_, at) => get(String(at))).join('')
  const answer = (at: number) => served[at]?.res.end(`[answer ${at}]`)
  const answersOf = (text: string) => text.match(/\[answer \d+\]/g)

  test('are served one after the other, each once the answer before it was sent', async () => {
    const raw = await open()
    raw.socket.write(several(3))
    for (const at of [0, 1, 2]) {
      await expect.poll(() => served.length).toBe(at + 1)
      answer(at)
      await raw.until(`[answer ${at}]`)
    }
    expect(served.map(({ url }) => url)).toEqual(['/0', '/1', '/2'])
    raw.socket.destroy()
  })

  test('are read up to a bound, answered up to it in order, and the connection closes after the last answer', async () => {
    const raw = await open()
    const closed = once(raw.socket, 'close')
    raw.socket.write(several(2_400))
    await expect.poll(() => errors[0]).toBe('HPE_CB_HEADERS_COMPLETE')
    expect(heads).toBe(1 + MAX_WAITING)
    for (let at = 0; at <= MAX_WAITING; at++) {
      await expect.poll(() => served.length).toBe(at + 1)
      answer(at)
    }
    await closed
    expect(answersOf(raw.text())).toEqual(
      Array.from({ length: 1 + MAX_WAITING }, (_, at) => `[answer ${at}]`),
    )
  })

  test('are all answered if a client never has more than the bound waiting', async () => {
    const raw = await open()
    raw.socket.write(several(1 + MAX_WAITING))
    for (let at = 0; at < 100; at++) {
      await expect.poll(() => served.length).toBe(at + 1)
      answer(at)
      await raw.until(`[answer ${at}]`)
      raw.socket.write(get(String(1 + MAX_WAITING + at)))
    }
    expect([errors, answersOf(raw.text())?.length]).toEqual([[], 100])
    raw.socket.destroy()
  })

  test('are not served behind an answer that closes the connection', async () => {
    const raw = await open()
    const closed = once(raw.socket, 'close')
    raw.socket.write(several(5))
    await expect.poll(() => served.length).toBe(1)
    const [first] = served
    if (first !== undefined) first.res.shouldKeepAlive = false
    answer(0)
    await closed
    expect([served.length, answersOf(raw.text())]).toEqual([1, ['[answer 0]']])
  })

  test('are not served once their connection is lost', async () => {
    const raw = await open()
    raw.socket.write(several(5))
    await expect.poll(() => heads).toBe(5)
    const gone = once(served[0]?.res as ServerResponse, 'close')
    raw.socket.destroy()
    await gone
    expect(served.length).toBe(1)
  })
})
