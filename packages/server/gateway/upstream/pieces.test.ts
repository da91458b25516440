import type { UpstreamError } from '@rideau/llm/upstream/upstream-error'
import { afterEach, expect, test } from 'vitest'
import type { ShareOwner } from '../../core/admission/connection-shares.ts'
import { openConfiguredEgress } from '../../http/egress/open-egress.ts'
import {
  openScriptedUpstream,
  type ScriptedUpstream,
  type UpstreamAnswer,
} from '../../testing/fakes/scripted-upstream.ts'
import { endOfPiece } from './end-of-piece.ts'
import { openHttpTransport } from './http-transport.ts'
import type { Transport } from './transport.ts'

const NOBODY: ShareOwner = { environment: undefined, caller: undefined, endUser: undefined }

let upstream: ScriptedUpstream | undefined
let transport: Transport | undefined
afterEach(async () => {
  await transport?.close()
  await upstream?.close()
})

interface Received {
  readonly chunks: string[]
  readonly end: UpstreamError | 'end'
}

/** Calls a provider with this answer. Each piece of it takes the handler some milliseconds. */
async function receive(answer: UpstreamAnswer): Promise<Received> {
  const provider = await openScriptedUpstream()
  provider.script(answer)
  const opened = openHttpTransport(openConfiguredEgress({ allowPrivate: true }), { maxConnections: 8 })
  upstream = provider
  transport = opened
  const chunks: string[] = []
  const end = await new Promise<UpstreamError | 'end'>(resolve => {
    const handler = {
      isStream: true as const,
      onStart: () => {},
      onData: (chunk: Buffer) => {
        chunks.push(chunk.toString())
        for (const until = performance.now() + 2; performance.now() < until; );
      },
      onEnd: () => resolve('end'),
      onFail: resolve,
      onCrash: (error: unknown) => expect.unreachable(String(error)),
    }
    const request = { origin: provider.origin, path: '/', headers: {}, body: Buffer.from('{}') }
    opened.call(request, handler, NOBODY)
  })
  return { chunks, end }
}

test('a piece ends behind its last mark, and a chunk of few marks is one', () => {
  expect(endOfPiece(Buffer.from('a\nb\nc\nd'), 0, 2)).toBe(4)
  expect(endOfPiece(Buffer.from('a\nb\nc\nd'), 4, 2)).toBe(7)
  expect(endOfPiece(Buffer.from('a\nb\nc\n'), 2, 2)).toBe(6)
  expect(endOfPiece(Buffer.alloc(100), 10, 32)).toBe(42)
  expect(endOfPiece(Buffer.from('ö'.repeat(50_000)), 0, 32)).toBe(100_000)
})

test.each([
  ['that goes on', 'keep-alive'],
  ['that closes', 'close'],
])(
  'a stream of very short lines is handed out in pieces, whole and before its end, on a connection %s',
  async (_, connection) => {
    const lines = Array.from({ length: 12_000 }, (_, index) => `${index}\n`).join('')
    const { chunks, end } = await receive(res => {
      res.writeHead(200, { connection })
      res.end(lines)
    })
    expect(end).toBe('end')
    expect(chunks.join('')).toBe(lines)
    expect(Math.max(...chunks.map(chunk => chunk.split('\n').length - 1))).toBeLessThanOrEqual(256)
  },
)

test('a short chunk of many lines is handed out in pieces too', async () => {
  const { chunks, end } = await receive(res => {
    res.writeHead(200)
    res.end('\n'.repeat(4_000))
  })
  expect([end, chunks.join('').length]).toEqual(['end', 4_000])
  expect(Math.max(...chunks.map(({ length }) => length))).toBeLessThanOrEqual(256)
})

test('a provider that sends interim responses without end fails the call', async () => {
  const { end } = await receive(res => {
    for (let n = 0; n < 100; n++) res.writeProcessing()
    res.end('late')
  })
  expect(end).toMatchObject({
    kind: 'unavailable',
    detail: expect.stringContaining('too many interim responses'),
  })
})
