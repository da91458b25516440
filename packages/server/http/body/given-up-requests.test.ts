import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import type { Fault } from '../../core/fault.ts'
import { openRaw, type RawConnection } from '../../testing/harness/raw-connection.ts'
import { CheckedResponse } from '../answer/checked-response.ts'
import { writeHead } from '../answer/write-head.ts'
import { hasGivenUp, isGivenUp, isStalled } from '../connection/given-up.ts'
import { answerClientError } from '../head/client-error.ts'
import { RequestLines } from '../head/request-lines.ts'
import { boundFraming } from './bound-framing.ts'
import { readBody } from './read-body.ts'
import { ReceivedRequest } from './received-request.ts'

/** Requests that are given up or stalled, on a server of the pieces that both planes share. */

const TINY = '1\r\nx\r\n'
const END = '0\r\n\r\n'
/** So many that a body of them is given up, or only not read on. */
const VERY_MANY = TINY.repeat(3_000)
const MANY = TINY.repeat(300)
/** More than may come between requests. */
const LINE_ENDS = '\r\n'.repeat(150_000)
/** More than the kernel takes of it. */
const LONG_BODY = 20 * 1024 * 1024
const head = (line: string) => `${line} HTTP/1.1\r\nHost: a\r\n`
const get = (path: string) => `${head(`GET ${path}`)}\r\n`
const chunked = (line: string) => `${head(line)}Transfer-Encoding: chunked\r\n\r\n`
/** A connection whose request was given up would have been closed after this time, in milliseconds. */
const LONG = 1_500

let serve: (req: IncomingMessage, res: ServerResponse) => unknown
let served: string[]
const lines = new RequestLines((req, res) => {
  served.push(req.url ?? '')
  void serve(req, res)
})
/** Longer than a test may take, so that an open connection is none that the server closed. */
const KEPT = { keepAliveTimeout: 300_000, IncomingMessage: ReceivedRequest }
const server = http.createServer(KEPT, (req, res) => lines.add(req, res))
boundFraming(server, lines)
server.on('clientError', (error, socket) => {
  const render = () => ({ body: { broken: true } })
  answerClientError(error, socket, lines.latest(socket), () => 'id', render)
})
beforeAll(() => new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve)))
afterAll(() => {
  server.closeAllConnections()
  server.close()
})
beforeEach(() => {
  served = []
  serve = (_, res) => answer(res, 200, 'ok')
})

function answer(res: ServerResponse, status: number, text: string): void {
  writeHead(res, status, ['Content-Length', String(text.length)])
  res.end(text)
}

async function open(): Promise<RawConnection & { readonly closed: Promise<unknown> }> {
  const raw = await openRaw(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  onTestFinished(() => void raw.socket.destroy())
  return { ...raw, closed: new Promise(resolve => raw.socket.once('close', resolve)) }
}

const statusesOf = (text: string) => text.match(/(?<=HTTP\/1\.1 )\d+/g)
const CLOSES = /^connection: close\r$/im

/** Answers with the length of the body, or the fault of reading it. */
async function readAndAnswer(req: IncomingMessage, res: ServerResponse): Promise<void> {
  try {
    const { length } = await readBody(req, 1024 * 1024, undefined).bytes
    answer(res, 200, `[${length}]`)
  } catch (error) {
    answer(res, (error as Fault).status, 'refused')
  }
}

test('a body that goes on without end behind its answer gets no second one, and the connection closes', async () => {
  const raw = await open()
  raw.socket.write(chunked('GET /'))
  await raw.until('ok')
  raw.socket.write(TINY.repeat(35_000))
  await raw.closed
  expect(statusesOf(raw.text())).toEqual(['200'])
})

test.each([
  ['with a length', `Content-Length: ${LONG_BODY}\r\n`, Buffer.alloc(LONG_BODY)],
  [
    'in chunks',
    'Transfer-Encoding: chunked\r\n',
    Buffer.from(`400\r\n${'x'.repeat(1024)}\r\n`.repeat(20_000) + END),
  ],
])(
  'a long body %s behind its answer is dropped, so that a client may send all of it before it reads',
  async (_, field, body) => {
    const raw = await open()
    const errors: Error[] = []
    raw.socket.on('error', error => errors.push(error))
    raw.socket.write(`${head('GET /')}${field}\r\n`)
    await raw.until('ok')
    raw.socket.end(body)
    await raw.closed
    expect([errors, raw.socket.bytesWritten > body.length, statusesOf(raw.text())]).toEqual([
      [],
      true,
      ['200'],
    ])
  },
)

test('a request with too much framing behind it is answered, and its answer closes the connection', async () => {
  serve = async (req, res) => {
    await expect.poll(() => isGivenUp(req)).toBe(true)
    await sleep(LONG)
    answer(res, 200, 'ok')
  }
  const raw = await open()
  raw.socket.write(get('/') + LINE_ENDS)
  await raw.closed
  expect([statusesOf(raw.text()), served]).toEqual([['200'], ['/']])
  expect(raw.text()).toMatch(CLOSES)
})

test.each([
  ['a body that is given up', `${chunked('POST /flood')}${VERY_MANY}${END}`, ['200', '413']],
  ['a body without end that is given up', `${chunked('POST /flood')}${VERY_MANY}`, ['200', '413']],
  ['too much framing', LINE_ENDS, ['200']],
  ['a body with a broken chunk', `${chunked('POST /broken')}${TINY}x\r\n`, ['200', '400']],
  ['a body without a whole chunk, and then a broken one', `${chunked('POST /broken')}x\r\n`, ['200', '400']],
  ['no request', 'broken\r\n\r\n', ['200']],
])('a slow answer and a stream are completed though %s follows', async (_, behind, statuses) => {
  for (const isStream of [false, true]) {
    const raw = await open()
    serve = async (req, res) => {
      if (req.method !== 'GET') return await readAndAnswer(req, res)
      if (isStream) res.write('begins')
      await expect.poll(() => hasGivenUp(req.socket)).toBe(true)
      // Neither the length of a chunk nor a request.
      raw.socket.write('broken\r\n\r\n')
      await sleep(LONG)
      res.end('ends')
    }
    raw.socket.write(get('/slow') + behind + get('/next'))
    await raw.closed
    expect(statusesOf(raw.text())).toEqual(statuses)
    expect(raw.text()).toContain('ends')
    if (statuses.length > 1) expect(raw.text()).toMatch(CLOSES)
  }
  expect(served).not.toContain('/next')
})

test.each([
  ['is given up', `${VERY_MANY}${END}`, '413'],
  ['is broken', 'x\r\n', '400'],
])(
  'a body that %s behind a request has a fault of its own if it is not answered',
  async (_, body, status) => {
    serve = async (req, res) => {
      if (req.url !== '/slow') return
      await sleep(LONG)
      answer(res, 200, 'ok')
    }
    const raw = await open()
    raw.socket.write(get('/slow') + chunked('POST /refused') + body)
    await raw.closed
    expect([statusesOf(raw.text()), served]).toEqual([
      ['200', status],
      ['/slow', '/refused'],
    ])
  },
)

test.each([
  ['a body that is given up', `${chunked('POST /flood')}${VERY_MANY}`],
  ['a broken body', `${chunked('POST /broken')}x\r\n`],
  ['no request', 'broken\r\n\r\n'],
])(
  'an answer with %s behind it is not continued if its client goes, though little is read of its connection',
  async (_, behind) => {
    let closes = 0
    const isSlow = new Promise<void>(resolve => {
      serve = async ({ socket }, res) => {
        res.once('close', () => closes++)
        await expect.poll(() => hasGivenUp(socket)).toBe(true)
        await sleep(LONG)
        resolve()
      }
    })
    const raw = await open()
    raw.socket.write(get('/slow') + behind)
    await isSlow
    expect(closes).toBe(0)
    raw.socket.destroy()
    await expect.poll(() => closes, { timeout: 10_000 }).toBe(1)
  },
)

test.each([
  ['whole', END],
  ['without end', ''],
])('a body that is given up, %s, is answered though more comes before its answer', async (_, end) => {
  const raw = await open()
  serve = async (req, res) => {
    await expect.poll(() => hasGivenUp(req.socket)).toBe(true)
    raw.socket.write('G')
    await sleep(200)
    answer(res, 413, 'refused')
  }
  raw.socket.write(`${chunked('POST /')}${VERY_MANY}${end}`)
  await raw.closed
  expect(raw.text()).toContain('refused')
  expect([statusesOf(raw.text()), served]).toEqual([['413'], ['/']])
})

test('an answer that is being sent when its own request is given up may end soon after', async () => {
  serve = (_, res) => {
    res.write('begins')
    server.once('clientError', () => setImmediate(() => res.end('ends')))
  }
  const raw = await open()
  raw.socket.write(`${chunked('GET /')}${VERY_MANY}`)
  await raw.closed
  expect(raw.text()).toContain('ends')
})

test('an answer to HEAD has no body if its own request is broken', async () => {
  serve = () => {}
  const raw = await open()
  raw.socket.write(`${chunked('HEAD /')}${VERY_MANY}`)
  await raw.closed
  expect(raw.text()).toMatch(/^HTTP\/1\.1 413 [^]*\r\n\r\n$/)
})

test.each([
  ['before its answer', 0],
  ['during its answer', 1],
])('a body that stalls %s closes the connection', async (_, isLate) => {
  const raw = await open()
  serve = async (req, res) => {
    if (isLate) {
      res.write('begins')
      raw.socket.write(MANY)
    }
    await expect.poll(() => isStalled(req)).toBe(true)
    if (isLate) res.end('ok')
    else answer(res, 200, 'ok')
  }
  raw.socket.write(chunked('GET /') + (isLate ? '' : MANY))
  await raw.closed
  expect(statusesOf(raw.text())).toEqual(['200'])
  if (!isLate) expect(raw.text()).toMatch(CLOSES)
})

test.each([
  ['that is whole', MANY + END, ''],
  ['that comes behind its answer', '', MANY + END],
  ['of which a part comes behind its answer', TINY.repeat(200), TINY.repeat(200) + END],
])('a body of few short chunks %s keeps the connection open', async (_, before, after) => {
  const raw = await open()
  serve = (req, res) => setImmediate(() => answer(res, 200, `[${req.url}]`))
  raw.socket.write(chunked('GET /first') + before)
  await raw.until('[/first]')
  raw.socket.write(after + get('/next'))
  await raw.until('[/next]')
  expect(raw.text()).not.toMatch(CLOSES)
})

test('answers of a framework to given-up and to stalled requests close the connection', async () => {
  const calls = new RequestLines((_, res) => {
    setImmediate(() => {
      // As the control plane does where Fastify has set it.
      res.removeHeader('connection')
      res.end('ok')
    })
  })
  const framework = http.createServer({ ...KEPT, ServerResponse: CheckedResponse }, (req, res) =>
    calls.add(req, res),
  )
  boundFraming(framework, calls)
  await new Promise<void>(resolve => framework.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void framework.close())
  for (const body of [MANY, `${VERY_MANY}${END}`]) {
    const raw = await openRaw(`http://127.0.0.1:${(framework.address() as AddressInfo).port}`)
    const closed = new Promise(resolve => raw.socket.once('close', resolve))
    raw.socket.write(chunked('GET /') + body)
    await closed
    expect(raw.text()).toMatch(CLOSES)
  }
})
