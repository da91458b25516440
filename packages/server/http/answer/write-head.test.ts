import http, { IncomingMessage, ServerResponse } from 'node:http'
import { type AddressInfo, Socket } from 'node:net'
import { collectGarbage } from '@rideau/llm/testing/collect-garbage'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { toUpstreamHeaders } from '../egress/upstream-headers.ts'
import { CheckedResponse } from './checked-response.ts'
import { compactHead, writeHead } from './write-head.ts'

function usedHeap(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed
}

let answer: (res: ServerResponse) => void = () => {}
const server = http.createServer({ ServerResponse: CheckedResponse }, (_req, res) => {
  answer(res)
  res.end('ok')
})
let url = ''

beforeAll(async () => {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterAll(() => {
  server.close()
  server.closeAllConnections()
})

async function headersOf(write: (res: ServerResponse) => void): Promise<Headers> {
  answer = write
  const response = await fetch(url)
  expect([response.status, await response.text()]).toEqual([200, 'ok'])
  return response.headers
}

const anyText = fc.string({ unit: 'binary', maxLength: 2000 })

describe('writeHead', () => {
  test('writes visible ASCII unchanged and encodes other values', async () => {
    const headers = await headersOf(res =>
      writeHead(res, 200, ['X-Plain', 'a, b; c="d"', 'X-Name', 'größe\ud800\r\nX-Injected: 1']),
    )
    expect(headers.get('x-plain')).toBe('a, b; c="d"')
    expect(headers.get('x-name')).toBe('gr%C3%B6%C3%9Fe%EF%BF%BD%0D%0AX-Injected:%201')
    expect(headers.has('x-injected')).toBe(false)
  })

  test('leaves out invalid names, and headers beyond 8 KiB', async () => {
    const long = Array.from({ length: 20 }, (_, index) => [`X-Long-${index}`, 'x'.repeat(1000)]).flat()
    const headers = await headersOf(res => writeHead(res, 200, ['no name', 'a', 'X-First', 'b', ...long]))
    expect(headers.get('x-first')).toBe('b')
    expect(headers.has('x-long-7')).toBe(true)
    expect(headers.has('x-long-8')).toBe(false)
  })

  test('never throws, whatever the texts', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(anyText, anyText), { maxLength: 20 }), async pairs => {
        await headersOf(res => writeHead(res, 200, pairs.flat()))
      }),
      { numRuns: 300 },
    )
  })
})

describe('CheckedResponse', () => {
  test('encodes values in every form, and cuts none', async () => {
    const headers = await headersOf(res => {
      res.setHeader('X-Set', 'größe')
      res.appendHeader('X-Append', ['\ud800', 'b'])
      res.writeHead(200, 'OK\r\n', {
        'X-Write': '\u0000',
        'X-Number': 7,
        'Set-Cookie': [`a=${'b'.repeat(2000)}`],
      })
    })
    expect([headers.get('x-set'), headers.get('x-append')]).toEqual(['gr%C3%B6%C3%9Fe', '%EF%BF%BD, b'])
    expect([headers.get('x-write'), headers.get('x-number')]).toEqual(['%00', '7'])
    expect(headers.getSetCookie()).toEqual([`a=${'b'.repeat(2000)}`])
  })

  test('never throws, whatever the values', async () => {
    await fc.assert(
      fc.asyncProperty(anyText, anyText, async (one, other) => {
        await headersOf(res => {
          res.setHeader('X-One', one)
          res.writeHead(200, { 'X-Other': [other, one] })
        })
      }),
      { numRuns: 300 },
    )
  })
})

describe('toUpstreamHeaders', () => {
  test('returns the same object if all values can be sent', () => {
    const headers = { authorization: 'Bearer a', 'x-long': 'x'.repeat(4000) }
    expect(toUpstreamHeaders(headers)).toBe(headers)
  })

  test.each(['größe', '\ud800', 'a\r\nb: c', '\u0000'])('leaves out the value %j', value => {
    expect(toUpstreamHeaders({ authorization: `Bearer ${value}`, accept: 'a/b' })).toEqual({ accept: 'a/b' })
  })
})

describe('compactHead', () => {
  const headers = Array.from({ length: 12 }, (_, at) => [`X-Header-${at}`, `value-${at}`]).flat()

  /** Returns the bytes of the heap that each of many written heads takes. */
  function sizeOfHead(isCompact: boolean): number {
    const heads: unknown[] = []
    const before = usedHeap()
    for (let count = 0; count < 2_000; count++) {
      const res = new ServerResponse(new IncomingMessage(new Socket()))
      writeHead(res, 200, headers)
      if (isCompact) compactHead(res)
      heads.push((res as unknown as { readonly _header: string })._header)
    }
    return (usedHeap() - before) / heads.length
  }

  test('leaves one string of the many that Node builds a head from', () => {
    // Compiles both.
    sizeOfHead(true)
    sizeOfHead(false)
    expect(sizeOfHead(false) - sizeOfHead(true)).toBeGreaterThan(1_000)
  })

  test('does nothing before a head is written', () => {
    const res = new ServerResponse(new IncomingMessage(new Socket()))
    compactHead(res)
    expect(res.headersSent).toBe(false)
  })
})
