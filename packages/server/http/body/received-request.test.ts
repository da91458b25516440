import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { openRaw, type RawConnection } from '../../testing/harness/raw-connection.ts'
import { dropRest } from './drop-rest.ts'
import { readBody } from './read-body.ts'
import { ReceivedRequest } from './received-request.ts'

const KiB = 1024
/** A chunk of one byte. */
const TINY = '1\r\nx\r\n'
const HEAD = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'

let receive: (req: ReceivedRequest, res: http.ServerResponse) => void
const server = http.createServer({ IncomingMessage: ReceivedRequest }, (req, res) => receive(req, res))
beforeAll(() => new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve)))
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

async function open(head = 'Transfer-Encoding: chunked'): Promise<RawConnection> {
  const raw = await openRaw(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  onTestFinished(() => void raw.socket.destroy())
  raw.socket.write(`POST / HTTP/1.1\r\nHost: a\r\n${head}\r\n\r\n`)
  return raw
}

/** Opens a request and sends its body. Returns the request, whose body is wanted at once. */
async function send(body: string, head?: string): Promise<ReceivedRequest> {
  const received = new Promise<ReceivedRequest>(resolve => {
    receive = req => {
      req.wantBody()
      resolve(req)
    }
  })
  const raw = await open(head)
  raw.socket.write(body)
  return await received
}

/** Reads a body to its end. */
async function read(req: ReceivedRequest): Promise<readonly Buffer[]> {
  const chunks: Buffer[] = []
  for await (const chunk of req) chunks.push(chunk as Buffer)
  return chunks
}

test('joins short chunks and hands out all of their bytes in order', async () => {
  const text = Array.from({ length: 20_000 }, (_, at) => at % 10).join('')
  const body = [...text].map(digit => `1\r\n${digit}\r\n`).join('')
  const chunks = await read(await send(`${body}800\r\n${'l'.repeat(2 * KiB)}\r\n${TINY}0\r\n\r\n`))
  expect(Buffer.concat(chunks).toString()).toBe(`${text}${'l'.repeat(2 * KiB)}x`)
  expect(chunks.length).toBeLessThan(200)
})

test('hands out a short chunk before the next one comes', async () => {
  const req = await send(TINY)
  const first = await new Promise(resolve => req.once('data', resolve))
  expect(String(first)).toBe('x')
})

test('passes a body with a length unchanged', async () => {
  const chunks = await read(await send('abc', 'Content-Length: 3'))
  expect(chunks.map(String)).toEqual(['abc'])
})

test('keeps an unread body of one-byte chunks in few buffers', async () => {
  const req = await send(TINY.repeat(100_000))
  await expect.poll(() => req.readableLength).toBeGreaterThanOrEqual(req.readableHighWaterMark)
  let buffers = 0
  req.on('data', () => buffers++)
  await expect.poll(() => buffers).toBeGreaterThan(0)
  expect(buffers).toBeLessThan(200)
})

test('reads nothing more from the socket after pauseReading, and goes on after resumeReading', async () => {
  const length = 64 * 1024 * KiB
  const req = await send('x', `Content-Length: ${length}`)
  const { socket } = req
  let received = 0
  const isPaused = new Promise<void>(resolve => {
    req.on('data', (chunk: Buffer) => {
      received += chunk.length
      if (received > 1) return
      req.pauseReading()
      resolve()
    })
  })
  await isPaused
  const { bytesRead } = socket
  for (let polls = 0; polls < 50; polls++) await new Promise(resolve => setImmediate(resolve))
  expect([socket.bytesRead - bytesRead, received]).toEqual([0, 1])
  req.resumeReading()
  await expect.poll(() => req.isPaused() || socket.isPaused()).toBe(false)
})

test('reads nothing more if reading is paused again in the tick in which it was resumed', async () => {
  const req = await send('x', `Content-Length: ${64 * 1024 * KiB}`)
  await expect.poll(() => req.readableLength).toBe(1)
  const { socket } = req
  req.pauseReading()
  let resumes = 0
  // Node's server reads from the connection again then, even if it was paused since.
  socket.on('resume', () => resumes++)
  req.resumeReading()
  req.pauseReading()
  await new Promise(resolve => setImmediate(resolve))
  expect(resumes).toBe(0)
  req.resumeReading()
  await expect.poll(() => resumes).toBe(1)
})

test('an unwanted body of one-byte chunks is not read on after some of them, and is whole once it is wanted', async () => {
  const received = new Promise<ReceivedRequest>(resolve => {
    receive = req => resolve(req)
  })
  const raw = await open()
  raw.socket.write(TINY.repeat(1_000))
  const req = await received
  await expect.poll(() => req.readCost).toBe(1_000 * KiB)
  raw.socket.write(`${TINY.repeat(9_000)}0\r\n\r\n`)
  for (let polls = 0; polls < 50; polls++) await new Promise(resolve => setImmediate(resolve))
  expect(req.readCost).toBe(1_000 * KiB)
  req.wantBody()
  expect(Buffer.concat(await read(req)).toString()).toBe('x'.repeat(10_000))
})

test('the rest of a refused body in one-byte chunks is not read on after some of them', async () => {
  const refused = new Promise<ReceivedRequest>(resolve => {
    receive = (req, res) => {
      dropRest(req, () => res.end())
      resolve(req)
    }
  })
  const raw = await open()
  raw.socket.write(TINY.repeat(1_000))
  const req = await refused
  await expect.poll(() => req.readCost).toBe(1_000 * KiB)
  raw.socket.write(TINY.repeat(9_000))
  for (let polls = 0; polls < 50; polls++) await new Promise(resolve => setImmediate(resolve))
  expect(req.readCost).toBe(1_000 * KiB)
})

test.each([
  ['that goes on', ''],
  ['that ends with them', '0\r\n\r\n'],
])('an unwanted body %s is given up if one read brings very many one-byte chunks', async (_, end) => {
  let cost = 0
  const faults: unknown[] = []
  receive = (req, res) => {
    setTimeout(async () => {
      cost = req.readCost
      const reader = readBody(req, 1024 * KiB, undefined)
      await Promise.resolve(reader.bytes).catch(error => faults.push(error))
      res.end('refused')
    }, 20)
  }
  const raw = await openRaw(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  raw.socket.write(`${HEAD}${TINY.repeat(5_000)}${end}`)
  await raw.until('refused')
  expect(cost).toBe(1_025 * KiB)
  expect(faults).toMatchObject([{ code: 'request_too_large' }])
  // Node uses the same parser for another connection.
  raw.socket.destroy()
  expect((await read(await send(`${TINY.repeat(100)}0\r\n\r\n`))).join('')).toBe('x'.repeat(100))
})

test('the rest of a refused body in short chunks is read up to a bound, in turns', async () => {
  let cost = 0
  receive = (req, res) => {
    res.writeHead(413, { connection: 'close' })
    res.write('too large')
    dropRest(req, () => {
      cost = req.readCost
      res.end()
    })
  }
  const raw = await open()
  const closed = new Promise(resolve => raw.socket.once('close', resolve))
  const flood = Buffer.from(`64\r\n${'x'.repeat(100)}\r\n`.repeat(1_000))
  const write = (): void => {
    while (!raw.socket.destroyed && raw.socket.write(flood));
  }
  raw.socket.on('drain', write)
  write()
  await closed
  expect(raw.text()).toContain('too large')
  expect(cost).toBeGreaterThan(64 * KiB * KiB)
  // And what one read of the socket brought.
  expect(cost).toBeLessThan(64 * KiB * KiB + 700 * KiB)
})

test('the rest of a refused body is read to its end, after which the answer ends', async () => {
  receive = (req, res) => {
    res.writeHead(413, { connection: 'close' })
    dropRest(req, () => void res.end(`read ${req.readCost}`))
  }
  const length = 40 * 1024 * KiB
  const raw = await open(`Content-Length: ${length}`)
  raw.socket.write(Buffer.alloc(length))
  const cost = Number(/read (\d+)/.exec(await raw.until('\r\n0\r\n'))?.[1])
  expect(cost).toBeGreaterThanOrEqual(length)
  // And the head, if the body arrives with it.
  expect(cost).toBeLessThan(length + KiB)
})

test('a refused body that is not read on is dropped within a second', async () => {
  receive = (req, res) => dropRest(req, () => void res.end('refused'))
  const raw = await open()
  raw.socket.write(TINY.repeat(300))
  await raw.until('refused')
})
