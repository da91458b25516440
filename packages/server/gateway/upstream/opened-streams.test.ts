import type { ServerResponse } from 'node:http'
import { afterEach, expect, test } from 'vitest'
import type { ShareOwner } from '../../core/admission/connection-shares.ts'
import { openConfiguredEgress } from '../../http/egress/open-egress.ts'
import { loopTurns, type TurnTaker } from '../../http/fairness/loop-turns.ts'
import { openScriptedUpstream, type ScriptedUpstream } from '../../testing/fakes/scripted-upstream.ts'
import { countMarks } from './end-of-piece.ts'
import { openHttpTransport } from './http-transport.ts'
import { OpenedStreams } from './opened-streams.ts'
import type { Transport } from './transport.ts'

const NOBODY: ShareOwner = { environment: undefined, caller: undefined, endUser: undefined }
const STREAMS = 40

let upstream: ScriptedUpstream | undefined
let transport: Transport | undefined
afterEach(async () => {
  await transport?.close()
  await upstream?.close()
})

/**
 * Calls a provider that sends this to all streams at once. Returns the most marks that opening handlers got in one tick, and how many handlers those were.
 * `waits`: other long work takes turns until all streams have come, so that they open in turns.
 */
async function openAll(stream: string, waits: boolean): Promise<{ marks: number; streams: number }> {
  const provider = await openScriptedUpstream()
  upstream = provider
  const answers: ServerResponse[] = []
  provider.script(res => {
    if (answers.push(res) === STREAMS) for (const each of answers) each.end(stream)
  })
  const connected = openHttpTransport(openConfiguredEgress({ allowPrivate: true }), { maxConnections: 1000 })
  transport = connected
  let started = 0
  let inTick = { marks: 0, streams: 0 }
  const most = { marks: 0, streams: 0 }
  const note = (count: number): void => {
    if (inTick.streams === 0)
      setImmediate(() => {
        inTick = { marks: 0, streams: 0 }
      })
    inTick.marks += count
    inTick.streams++
    most.marks = Math.max(most.marks, inTick.marks)
    most.streams = Math.max(most.streams, inTick.streams)
  }
  const other: TurnTaker = {
    owner: NOBODY,
    origin: 'other',
    takeTurn() {
      if (started < STREAMS) loopTurns.wait(other)
      return false
    },
  }
  if (waits) loopTurns.wait(other)
  const openOne = (): Promise<void> =>
    new Promise((resolve, reject) => {
      let opens = true
      const handler = {
        isStream: true as const,
        isOpening: false,
        onStart: () => void started++,
        onData(chunk: Buffer) {
          if (!opens) return
          opens = false
          note(countMarks(chunk))
          handler.isOpening = true
          queueMicrotask(() => {
            handler.isOpening = false
          })
        },
        onEnd: resolve,
        onFail: reject,
        onCrash: reject,
      }
      const request = { origin: provider.origin, path: '/', headers: {}, body: Buffer.from('{}') }
      connected.call(request, handler, NOBODY)
    })
  await Promise.all(Array.from({ length: STREAMS }, openOne))
  return most
}

test.each([
  ['in turns', '\n'.repeat(300), true],
  ['in turns, each of which has one piece', '\n'.repeat(200), true],
  ['without a turn', '\n'.repeat(200), false],
])('streams that open in one tick %s have at most the marks of five pieces', async (_, stream, waits) => {
  expect((await openAll(stream, waits)).marks).toBeLessThanOrEqual(5 * 256)
})

test('streams that open in one tick by a single event each are few enough', async () => {
  expect((await openAll('data: {}\n\n', false)).streams).toBeLessThanOrEqual(32)
})

test('several short streams may open in one tick, and none after them until the next', async () => {
  const opened = new OpenedStreams()
  const events = Buffer.from('data: {}\n\n'.repeat(50))
  for (let count = 0; count < 7; count++) opened.note(events)
  expect(opened.isFull).toBe(false)
  opened.note(events)
  expect(opened.isFull).toBe(true)
  await new Promise(resolve => setImmediate(resolve))
  expect(opened.isFull).toBe(false)
})

test('streams of a single event have a bound too', () => {
  const opened = new OpenedStreams()
  let count = 0
  for (; !opened.isFull; count++) opened.note(Buffer.from('data: {}\n\n'))
  expect(count).toBeLessThanOrEqual(32)
})
