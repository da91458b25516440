import type { UpstreamError } from '@rideau/llm/upstream/upstream-error'
import { afterEach, expect, test } from 'vitest'
import type { ShareOwner } from '../../core/admission/connection-shares.ts'
import { openConfiguredEgress } from '../../http/egress/open-egress.ts'
import { loopTurns, type TurnTaker } from '../../http/fairness/loop-turns.ts'
import {
  openScriptedUpstream,
  type ScriptedUpstream,
  type UpstreamAnswer,
} from '../../testing/fakes/scripted-upstream.ts'
import { endOfPiece } from './end-of-piece.ts'
import { openHttpTransport } from './http-transport.ts'
import type { Transport, UpstreamCall } from './transport.ts'

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
  /** Pieces that came while the handler was opening, and while it had paused the call. */
  readonly opened: number
  readonly paused: number
}

interface HandlerOptions {
  /** Whether the handler only keeps what comes, until a promise of this tick. */
  readonly opens?: boolean
  /** Whether other long work takes turns until the first piece comes, which then has to wait for one. */
  readonly waits?: boolean
  /** How long it pauses after each piece, in milliseconds; 0: not at all. */
  readonly pauseMs?: number
}

/** Calls a provider with this answer. Each piece of it takes the handler some milliseconds once it is open. */
async function receive(answer: UpstreamAnswer, options: HandlerOptions = {}): Promise<Received> {
  const provider = await openScriptedUpstream()
  provider.script(answer)
  const connected = openHttpTransport(openConfiguredEgress({ allowPrivate: true }), { maxConnections: 8 })
  upstream = provider
  transport = connected
  const { opens = false, waits = false, pauseMs = 0 } = options
  const chunks: string[] = []
  let opened = 0
  let paused = 0
  let isOpening = false
  const call: { made?: UpstreamCall; isPaused: boolean } = { isPaused: false }
  const other: TurnTaker = {
    owner: NOBODY,
    origin: 'other',
    takeTurn() {
      if (chunks.length === 0) loopTurns.wait(other)
      return false
    },
  }
  if (waits) loopTurns.wait(other)
  const end = await new Promise<UpstreamError | 'end'>(resolve => {
    const handler = {
      isStream: true as const,
      onStart: () => {},
      get isOpening() {
        return isOpening
      },
      onData: (chunk: Buffer) => {
        chunks.push(chunk.toString())
        if (isOpening) opened++
        if (call.isPaused) paused++
        if (opens && chunks.length === 1) {
          isOpening = true
          void Promise.resolve().then(() => {
            isOpening = false
          })
        }
        if (pauseMs > 0) {
          call.isPaused = true
          call.made?.pause()
          setTimeout(() => {
            call.isPaused = false
            call.made?.resume()
          }, pauseMs)
        }
        if (isOpening) return
        for (const until = performance.now() + 2; performance.now() < until; );
      },
      onEnd: () => resolve('end'),
      onFail: resolve,
      onCrash: (error: unknown) => expect.unreachable(String(error)),
    }
    const request = { origin: provider.origin, path: '/', headers: {}, body: Buffer.from('{}') }
    call.made = connected.call(request, handler, NOBODY)
  })
  return { chunks, end, opened, paused }
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

test.each([false, true])(
  'a handler that is opening gets at most one more piece of the read that opened it (after a wait: %s)',
  async waits => {
    const lines = '\n'.repeat(20_000)
    const { chunks, end, opened } = await receive(
      res => {
        res.writeHead(200)
        res.end(lines)
      },
      { opens: true, waits },
    )
    expect([end, chunks.join('').length]).toEqual(['end', 20_000])
    expect(opened).toBeLessThanOrEqual(1)
  },
)

test('a handler that opens in a turn gets at most one more piece of that tick, however many short chunks follow', async () => {
  const { chunks, end, opened } = await receive(
    res => {
      res.writeHead(200)
      res.write('\n'.repeat(100))
      for (let at = 0; at < 5_000; at++) res.write('\n')
      res.end()
    },
    { opens: true, waits: true },
  )
  expect([end, chunks.join('').length]).toEqual(['end', 5_100])
  expect(opened).toBeLessThanOrEqual(1)
})

test.each(['keep-alive', 'close'])(
  'a handler that pauses gets no piece until it resumes, and then all of them (connection: %s)',
  async connection => {
    const { chunks, end, paused } = await receive(
      res => {
        res.writeHead(200, { connection })
        res.end('\n'.repeat(10_000))
      },
      { pauseMs: 2 },
    )
    expect([end, chunks.join('').length, paused]).toEqual(['end', 10_000, 0])
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
